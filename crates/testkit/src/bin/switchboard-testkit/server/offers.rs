//! The resources, prompts and completions that fixtures offer by default.

use serde_json::{Value, json};

use super::content::PIXEL;
use super::message_era::MessageEra;
use crate::message::{INVALID_PARAMS, IncomingMessage, NOT_FOUND_BEFORE_MODERN, RpcAnswer};

pub(crate) fn resources() -> Vec<Value> {
    vec![
        json!({"uri": "test://static-text", "name": "static-text", "mimeType": "text/plain"}),
        json!({"uri": "test://static-binary", "name": "static-binary", "mimeType": "image/png"}),
    ]
}

pub(crate) fn templates() -> Vec<Value> {
    vec![json!({
        "uriTemplate": "test://template/{id}", "name": "template", "mimeType": "application/json",
    })]
}

pub(crate) fn read(uri: &str, spoken: &MessageEra) -> RpcAnswer {
    let contents = match (uri, uri.strip_prefix("test://template/")) {
        ("test://static-text", _) => {
            json!({"uri": uri, "mimeType": "text/plain", "text": "The text of a resource."})
        }
        ("test://static-binary", _) => {
            json!({"uri": uri, "mimeType": "image/png", "blob": PIXEL})
        }
        (_, Some(id)) if !id.is_empty() => {
            let text = json!({ "id": id }).to_string();
            json!({"uri": uri, "mimeType": "application/json", "text": text})
        }
        _ => return not_found(uri, spoken),
    };
    RpcAnswer::Result(json!({"contents": [contents]}))
}

pub(crate) fn not_found(uri: &str, spoken: &MessageEra) -> RpcAnswer {
    let modern = *spoken == MessageEra::Modern;
    let code = if modern { INVALID_PARAMS } else { NOT_FOUND_BEFORE_MODERN };
    RpcAnswer::refuse_with(code, "Resource not found", json!({ "uri": uri }))
}

pub(crate) fn prompts() -> Vec<Value> {
    vec![json!({
        "name": "greet", "description": "Greets somebody.",
        "arguments": [{"name": "name", "description": "Who is greeted.", "required": true}],
    })]
}

pub(crate) fn prompt(incoming: &IncomingMessage) -> RpcAnswer {
    if incoming.text("name") != Some("greet") {
        return RpcAnswer::refuse(INVALID_PARAMS, "unknown prompt");
    }
    let Some(name) = incoming.arguments().get("name").and_then(Value::as_str) else {
        return RpcAnswer::refuse(INVALID_PARAMS, "the argument `name` is missing");
    };
    let text = format!("Hello, {name}.");
    RpcAnswer::Result(json!({
        "description": "Greets somebody.",
        "messages": [{"role": "user", "content": {"type": "text", "text": text}}],
    }))
}

pub(crate) fn complete(incoming: &IncomingMessage) -> RpcAnswer {
    let typed = incoming.params.pointer("/argument/value").and_then(Value::as_str);
    let Some(typed) = typed else {
        return RpcAnswer::refuse(INVALID_PARAMS, "`argument.value` is missing");
    };
    let values: Vec<&str> =
        ["Ada", "Alan", "Grace"].into_iter().filter(|name| name.starts_with(typed)).collect();
    RpcAnswer::Result(json!({"completion": {"total": values.len(), "values": values}}))
}
