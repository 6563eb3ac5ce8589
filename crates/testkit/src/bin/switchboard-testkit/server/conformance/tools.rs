//! The definitions of the tools.

use serde_json::{Value, json};

use super::super::content;

/// Tools without arguments that the suite calls.
const BARE: &str = "test_simple_text test_image_content test_audio_content test_embedded_resource \
    test_multiple_content_types test_error_handling test_tool_with_logging \
    test_tool_with_progress test_elicitation_sep1034_defaults test_elicitation_sep1330_enums \
    test_missing_capability test_logging_tool test_streaming_elicitation \
    test_trigger_tool_change test_trigger_prompt_change test_input_required_result_elicitation \
    test_input_required_result_sampling test_input_required_result_list_roots \
    test_input_required_result_request_state test_input_required_result_multiple_inputs \
    test_input_required_result_multi_round test_input_required_result_tampered_state \
    test_input_required_result_capabilities touch";

/// Returns all tools, including `grown` added ones.
pub(super) fn definitions(grown: usize) -> Vec<Value> {
    let mut tools: Vec<Value> = BARE.split(' ').map(|name| tool(name, &json!({}), &[])).collect();
    let text = json!({"type": "string"});
    tools.push(tool("test_sampling", &json!({"prompt": text}), &["prompt"]));
    tools.push(tool("test_elicitation", &json!({"message": text}), &["message"]));
    let region = json!({"region": {"type": "string", "x-mcp-header": "Region"}});
    tools.push(tool("test_custom_header", &region, &["region"]));
    tools.push(tool("raw", &json!({"result": text}), &["result"]));
    let error = json!({"code": {"type": "integer"}, "message": text, "data": {}});
    tools.push(tool("refuse", &error, &["code", "message"]));
    let mut schema_tool = tool("json_schema_2020_12_tool", &json!({}), &[]);
    schema_tool["inputSchema"] = wide_schema();
    tools.push(schema_tool);
    let grown = (1..=grown).map(|number| tool(&format!("grown_{number}"), &json!({}), &[]));
    tools.extend(grown);
    tools
}

fn tool(name: &str, properties: &Value, required: &[&str]) -> Value {
    content::tool(name, &format!("A tool for tests, called {name}."), properties, required)
}

fn object(properties: &Value, required: &[&str]) -> Value {
    json!({"type": "object", "properties": properties, "required": required})
}

pub(super) fn text_form(name: &str) -> Value {
    object(&json!({name: {"type": "string"}}), &[name])
}

pub(super) fn yes_or_no(name: &str) -> Value {
    object(&json!({name: {"type": "boolean"}}), &[name])
}

pub(super) fn name_and_address() -> Value {
    let properties = json!({
        "username": {"type": "string", "description": "A name."},
        "email": {"type": "string", "description": "An address."},
    });
    object(&properties, &["username", "email"])
}

/// Returns a schema with a default for each primitive type.
pub(super) fn with_defaults() -> Value {
    let states = ["active", "inactive", "pending"];
    let properties = json!({
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": states, "default": "active"},
        "verified": {"type": "boolean", "default": true},
    });
    object(&properties, &[])
}

/// Returns a schema with each way to describe a choice.
pub(super) fn choices() -> Value {
    let options = ["option1", "option2", "option3"];
    let titled = |words: [&str; 3]| {
        let titled = ["value1", "value2", "value3"].into_iter().zip(words);
        titled.map(|(value, title)| json!({"const": value, "title": title})).collect::<Vec<_>>()
    };
    let properties = json!({
        "untitledSingle": {"type": "string", "enum": options},
        "titledSingle": {
            "type": "string",
            "oneOf": titled(["First Option", "Second Option", "Third Option"]),
        },
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": options}},
        "titledMulti": {
            "type": "array",
            "items": {"anyOf": titled(["First Choice", "Second Choice", "Third Choice"])},
        },
    });
    object(&properties, &[])
}

/// Returns a schema with keywords that a host may be tempted to drop.
fn wide_schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {"address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }},
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false,
    })
}
