//! The definitions of the tools.

use serde_json::{Value, json};

use super::schemas;

/// Tools without arguments that the suite calls.
const BARE: [&str; 24] = [
    "test_simple_text",
    "test_image_content",
    "test_audio_content",
    "test_embedded_resource",
    "test_multiple_content_types",
    "test_error_handling",
    "test_tool_with_logging",
    "test_tool_with_progress",
    "test_elicitation_sep1034_defaults",
    "test_elicitation_sep1330_enums",
    "test_missing_capability",
    "test_logging_tool",
    "test_streaming_elicitation",
    "test_trigger_tool_change",
    "test_trigger_prompt_change",
    "test_input_required_result_elicitation",
    "test_input_required_result_sampling",
    "test_input_required_result_list_roots",
    "test_input_required_result_request_state",
    "test_input_required_result_multiple_inputs",
    "test_input_required_result_multi_round",
    "test_input_required_result_tampered_state",
    "test_input_required_result_capabilities",
    "touch",
];

/// Everything that is offered, with as many tools as were added.
pub(super) fn definitions(grown: usize) -> Vec<Value> {
    let mut tools: Vec<Value> = BARE.iter().map(|name| tool(name, &json!({}), &[])).collect();
    let text = json!({"type": "string"});
    tools.push(tool("test_sampling", &json!({"prompt": text}), &["prompt"]));
    tools.push(tool("test_elicitation", &json!({"message": text}), &["message"]));
    let region = json!({"region": {"type": "string", "x-mcp-header": "Region"}});
    tools.push(tool("test_custom_header", &region, &["region"]));
    tools.push(tool("raw", &json!({"result": text}), &["result"]));
    let error = json!({"code": {"type": "integer"}, "message": text, "data": {}});
    tools.push(tool("refuse", &error, &["code", "message"]));
    let mut wide = tool("json_schema_2020_12_tool", &json!({}), &[]);
    wide["inputSchema"] = schemas::wide();
    tools.push(wide);
    let grown = (1..=grown).map(|number| tool(&format!("grown_{number}"), &json!({}), &[]));
    tools.extend(grown);
    tools
}

fn tool(name: &str, properties: &Value, required: &[&str]) -> Value {
    json!({
        "name": name,
        "description": format!("A tool for tests, called {name}."),
        "inputSchema": {"type": "object", "properties": properties, "required": required},
    })
}
