//! Which elements are calls.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::parse::piece::WrittenForm;
use crate::parse::tag::TagName;

pub(super) const USE_TOOL: &str = "use_mcp_tool";
pub(super) const ACCESS_RESOURCE: &str = "access_mcp_resource";
/// The elements that are calls in every dialect.
pub(super) const WRAPPERS: [&str; 2] = [USE_TOOL, ACCESS_RESOURCE];

/// The elements that a parser takes for calls.
#[derive(Clone, Debug)]
pub struct CallDialect {
    elements: BTreeMap<String, CallElement>,
}

/// A tool that may be called by an element of its own name.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolShape {
    pub name: String,
    /// The schema of its arguments: values written as XML are read as the types it gives.
    pub schema: Option<Value>,
}

#[derive(Clone, Debug)]
struct CallElement {
    form: WrittenForm,
    schema: Option<Value>,
}

impl CallDialect {
    /// Only `<use_mcp_tool>` and `<access_mcp_resource>`.
    #[must_use]
    pub fn new() -> Self {
        let element = |form| CallElement { form, schema: None };
        let elements = BTreeMap::from([
            (USE_TOOL.to_owned(), element(WrittenForm::UseMcpTool)),
            (ACCESS_RESOURCE.to_owned(), element(WrittenForm::AccessMcpResource)),
        ]);
        Self { elements }
    }

    /// Also elements named like these tools. The names of the two wrappers stay theirs.
    #[must_use]
    pub fn with_tools(mut self, tools: impl IntoIterator<Item = ToolShape>) -> Self {
        for ToolShape { name, schema } in tools {
            let element = CallElement { form: WrittenForm::Named, schema };
            self.elements.entry(name).or_insert(element);
        }
        self
    }

    /// The form of the call that the element begins, if it begins one.
    pub fn form(&self, name: &str) -> Option<WrittenForm> {
        self.elements.get(name).map(|element| element.form)
    }

    /// The schema of the tool registered under the name.
    pub fn schema(&self, tool: &str) -> Option<&Value> {
        self.elements.get(tool)?.schema.as_ref()
    }

    /// Whether the name is, or may become, that of an element.
    pub(super) fn may_be_element(&self, name: TagName<'_>) -> bool {
        if !name.open {
            return self.elements.contains_key(name.text);
        }
        let from = (std::ops::Bound::Included(name.text), std::ops::Bound::Unbounded);
        let next = self.elements.range::<str, _>(from).next();
        next.is_some_and(|(known, _)| known.starts_with(name.text))
    }
}

impl Default for CallDialect {
    fn default() -> Self {
        Self::new()
    }
}

impl ToolShape {
    /// A tool without a schema.
    #[must_use]
    pub fn without_schema(name: &str) -> Self {
        Self { name: name.to_owned(), schema: None }
    }
}
