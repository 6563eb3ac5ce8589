//! The elements that are parsed as calls.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::parse::piece::WrittenForm;
use crate::parse::tag::TagName;

pub(super) const USE_TOOL: &str = "use_mcp_tool";
pub(super) const ACCESS_RESOURCE: &str = "access_mcp_resource";
pub(super) const WRAPPERS: [&str; 2] = [USE_TOOL, ACCESS_RESOURCE];

/// The elements that a parser treats as calls.
#[derive(Clone, Debug)]
pub struct CallDialect {
    elements: BTreeMap<String, CallElement>,
}

/// A tool that can be called by an element of its name.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolShape {
    pub name: String,
    /// Schema of the arguments. Values written as XML are converted to its types.
    pub schema: Option<Value>,
}

#[derive(Clone, Debug)]
struct CallElement {
    form: WrittenForm,
    schema: Option<Value>,
}

impl CallDialect {
    /// Creates a dialect with only `<use_mcp_tool>` and `<access_mcp_resource>`.
    #[must_use]
    pub fn new() -> Self {
        let element = |form| CallElement { form, schema: None };
        let elements = BTreeMap::from([
            (USE_TOOL.to_owned(), element(WrittenForm::UseMcpTool)),
            (ACCESS_RESOURCE.to_owned(), element(WrittenForm::AccessMcpResource)),
        ]);
        Self { elements }
    }

    /// Adds elements named after these tools.
    #[must_use]
    pub fn with_tools(mut self, tools: impl IntoIterator<Item = ToolShape>) -> Self {
        for ToolShape { name, schema } in tools {
            let element = CallElement { form: WrittenForm::Named, schema };
            // A server must not take over the wrappers by naming a tool `use_mcp_tool`.
            self.elements.entry(name).or_insert(element);
        }
        self
    }

    /// Returns the form of the call that an element starts, if it starts one.
    pub fn form(&self, name: &str) -> Option<WrittenForm> {
        self.elements.get(name).map(|element| element.form)
    }

    /// Returns the schema of the tool with this element name.
    pub fn schema(&self, tool: &str) -> Option<&Value> {
        self.elements.get(tool)?.schema.as_ref()
    }

    /// Returns whether the name is the name of an element, or a possible prefix of one.
    pub(super) fn may_be_element(&self, name: TagName<'_>) -> bool {
        if !name.open {
            return self.elements.contains_key(name.text);
        }
        // The first known name at or after a prefix in the sorted map is the only candidate.
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
    /// Creates a tool without a schema.
    #[must_use]
    pub fn without_schema(name: &str) -> Self {
        Self { name: name.to_owned(), schema: None }
    }
}
