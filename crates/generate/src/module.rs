//! The module of a server: a function for each tool, and the types they need.

use serde_json::{Map, Value};

use crate::lower::SchemaLowering;
use crate::model::{GeneratedItem, Ty};
use crate::names::{NameScope, camel};
use crate::write;

/// The definition of a tool, with the schemas of its arguments and structured result.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    pub name: String,
    pub description: Option<String>,
    pub input: Value,
    pub output: Option<Value>,
}

pub(crate) struct ToolFunction<'a> {
    pub(crate) identifier: String,
    pub(crate) tool: &'a ToolSpec,
    pub(crate) arguments: Option<Ty>,
    pub(crate) output: Option<Ty>,
}

/// Returns the source of a module with a typed function for each tool of a server.
///
/// The functions call through `switchboard_host`, and the types need `serde` with its derives.
/// Ambiguous schemas become `serde_json::Value`. The output is deterministic.
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

fn takes_arguments(schema: &Value) -> bool {
    const MORE: [&str; 7] =
        ["$ref", "allOf", "anyOf", "oneOf", "patternProperties", "enum", "const"];
    // A schema that is not an object permits anything, or is not understood.
    let Some(schema) = schema.as_object() else { return true };
    let named =
        schema.get("properties").and_then(Value::as_object).is_some_and(|of| !of.is_empty());
    let open = schema.get("additionalProperties").is_some_and(|more| {
        *more == Value::Bool(true) || more.as_object().is_some_and(has_content)
    });
    named || open || MORE.iter().any(|key| schema.contains_key(*key))
}

/// Returns whether a schema permits anything; some servers write an empty one for no arguments.
fn has_content(schema: &Map<String, Value>) -> bool {
    !schema.is_empty() && !schema.contains_key("not")
}
