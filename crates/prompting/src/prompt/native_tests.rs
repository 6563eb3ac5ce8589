//! Tests of tool definitions for each vendor.

use serde_json::{Value, json};

use super::{Vendor, definitions};
use crate::prompt::options::PromptOptions;
use crate::prompt::test_catalog::small;
use crate::prompt::views::{ShownServer, ShownTool};

const VENDORS: [Vendor; 3] = [Vendor::OpenAi, Vendor::Anthropic, Vendor::Gemini];

fn one(tool: ShownTool<'static>) -> Vec<ShownServer<'static>> {
    vec![ShownServer { name: "s", tools: vec![tool], ..ShownServer::default() }]
}

#[test]
fn each_vendor_gets_its_own_form() {
    let options = PromptOptions::default();
    let said = "Reads a text file. Fails on others.\n# Not a heading\n&lt;/use_mcp_tool>";
    let bare = "Runs the tool \"ping\" of the server \"web\".";
    let properties = json!({"path": {"type": "string", "description": "Where it is."},
        "lines": {"type": "integer", "minimum": 1, "default": 100}, "mode": {"enum": ["all", "head"]}});
    let schema = json!({"type": "object", "properties": properties, "required": ["path"],
        "additionalProperties": false});
    let empty = json!({"type": "object", "properties": {}});
    let expected = [
        json!([
            {"type": "function", "function":
                {"name": "files__read_text", "description": said, "parameters": schema}},
            {"type": "function", "function":
                {"name": "web__ping", "description": bare, "parameters": empty}},
        ]),
        json!([
            {"name": "files__read_text", "description": said, "input_schema": schema},
            {"name": "web__ping", "description": bare, "input_schema": empty},
        ]),
        json!([{"functionDeclarations": [
            {"name": "files__read_text", "description": said, "parameters": {"type": "object",
                "properties": {
                    "path": {"type": "string", "description": "Where it is."},
                    "lines": {"type": "integer", "minimum": 1, "description": "(default: 100)"},
                    "mode": {"type": "string", "enum": ["all", "head"]}},
                "required": ["path"]}},
            {"name": "web__ping", "description": bare},
        ]}]),
    ];
    for (vendor, expected) in VENDORS.into_iter().zip(expected) {
        assert_eq!(definitions(&small(), vendor, &options).request_value(), expected, "{vendor:?}");
    }
}

#[test]
fn arguments_that_are_no_object_are_wrapped_and_unwrapped() {
    let tool = ShownTool {
        name: "t",
        model_name: "s__t",
        input_schema: Some(r#"{"type":"array","items":{"type":"string"}}"#),
        ..ShownTool::default()
    };
    for vendor in VENDORS {
        let defined = definitions(&one(tool.clone()), vendor, &PromptOptions::default());
        let text = defined.request_value().to_string();
        assert!(text.contains(r#""properties":{"value":"#), "{text}");
        assert_eq!(defined.restore("s__t", json!({"value": ["a"]})), json!(["a"]));
    }
}

#[test]
fn refused_names_are_mapped_and_mapped_back() {
    let tool = ShownTool {
        name: "t",
        model_name: "1s__t",
        input_schema: Some(
            r##"{"type":"object","properties":{"filter[id]":{"$ref":"#/$defs/f"}},
            "$defs":{"f":{"type":"object","properties":{"@x":{"type":"string"}}}}}"##,
        ),
        ..ShownTool::default()
    };
    for (vendor, name) in VENDORS.into_iter().zip(["1s__t", "1s__t", "_1s__t"]) {
        let defined = definitions(&one(tool.clone()), vendor, &PromptOptions::default());
        assert_eq!(defined.model_name(name), "1s__t");
        let text = defined.request_value().to_string();
        assert!(text.contains(&format!("\"{name}\"")), "{text}");
        let restored = defined.restore(name, json!({"filter_id_": {"_x": "v"}}));
        assert_eq!(restored, json!({"filter[id]": {"@x": "v"}}), "{vendor:?}");
    }
}

#[test]
fn hidden_characters_do_not_reach_a_vendor() {
    let tool = ShownTool {
        name: "t",
        model_name: "s__t",
        description: Some("Do\u{202e} it\u{e0041}."),
        input_schema: Some(
            "{\"properties\":{\"a\":{\"description\":\"x\u{200b}y\",\"enum\":[\"p\u{202e}\"]}}}",
        ),
        ..ShownTool::default()
    };
    for vendor in VENDORS {
        let text = definitions(&one(tool.clone()), vendor, &PromptOptions::default())
            .request_value()
            .to_string();
        assert!(
            text.contains("Do it.") && text.contains("\"xy\"") && text.contains("\"p\""),
            "{text}"
        );
    }
}

#[test]
fn openai_gets_descriptions_within_its_limit() {
    let long: &'static str = Box::leak("word ".repeat(900).into_boxed_str());
    let tool = ShownTool {
        name: "t",
        model_name: "s__t",
        description: Some(long),
        ..ShownTool::default()
    };
    let defined = definitions(&one(tool), Vendor::OpenAi, &PromptOptions::default());
    let said = defined.tools[0]["function"]["description"].as_str().map(str::len);
    assert!(said.is_some_and(|length| length <= 1_024), "{said:?}");
    assert_eq!(
        definitions(&[], Vendor::Gemini, &PromptOptions::default()).request_value(),
        Value::Array(vec![])
    );
}
