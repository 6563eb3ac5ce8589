//! The whole module of a server: a function for each tool, and the types they need.

use serde_json::{Map, Value};

use crate::lower::SchemaLowering;
use crate::model::{GeneratedItem, Ty};
use crate::names::{NameScope, camel};
use crate::write;

/// What a server says of a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// Its name on the server.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// The schema of its arguments.
    pub input: Value,
    /// The schema of its structured result, if it has one.
    pub output: Option<Value>,
}

/// A function as it will be written.
pub(crate) struct ToolFunction<'a> {
    pub(crate) identifier: String,
    pub(crate) tool: &'a ToolSpec,
    /// The type of its arguments, if it takes any.
    pub(crate) arguments: Option<Ty>,
    /// The type of its structured result, if it has one.
    pub(crate) output: Option<Ty>,
}

/// The text of a module with a typed function for each tool of a server.
///
/// The functions call through `switchboard_host`, and the types need `serde` with its derives; where
/// a schema is not clear, `serde_json::Value` stands for it. The same tools give the same text.
#[must_use]
pub fn rust(server: &str, tools: &[ToolSpec]) -> String {
    let mut types = NameScope::for_types();
    let mut identifiers = NameScope::default();
    let mut items: Vec<GeneratedItem> = Vec::new();
    let mut functions = Vec::new();
    for tool in tools {
        let identifier = identifiers.snake(&tool.name, "tool");
        let prefix = match camel(&tool.name) {
            empty if empty.is_empty() => "Tool".to_owned(),
            prefix => prefix,
        };
        let mut lowered = |schema: &Value, what: &str| {
            let mut lowering = SchemaLowering::new(schema, &prefix, &mut types);
            let ty = lowering.root_type(&format!("{prefix}{what}"));
            items.append(&mut lowering.items);
            ty
        };
        let arguments = takes_arguments(&tool.input).then(|| lowered(&tool.input, "Arguments"));
        let output = tool.output.as_ref().map(|schema| lowered(schema, "Output"));
        functions.push(ToolFunction { identifier, tool, arguments, output });
    }
    write::module(server, &functions, &items)
}

/// Whether there is anything that arguments could be.
fn takes_arguments(schema: &Value) -> bool {
    const MORE: [&str; 7] =
        ["$ref", "allOf", "anyOf", "oneOf", "patternProperties", "enum", "const"];
    let Some(schema) = schema.as_object() else { return true };
    let named =
        schema.get("properties").and_then(Value::as_object).is_some_and(|of| !of.is_empty());
    let open = schema.get("additionalProperties").is_some_and(|more| {
        *more == Value::Bool(true) || more.as_object().is_some_and(has_content)
    });
    named || open || MORE.iter().any(|key| schema.contains_key(*key))
}

/// Whether a schema says anything: an empty one is how some write that nothing is expected.
fn has_content(schema: &Map<String, Value>) -> bool {
    !schema.is_empty() && !schema.contains_key("not")
}
