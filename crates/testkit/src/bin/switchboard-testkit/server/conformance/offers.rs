//! Resources, and the content that results are made of.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::super::content;
use super::super::message_era::MessageEra;
use crate::message::{INVALID_PARAMS, NOT_FOUND_BEFORE_MODERN, RpcAnswer};

pub(super) const WATCHED: &str = "test://watched-resource";

pub(super) fn image() -> Value {
    json!({"type": "image", "data": STANDARD.encode(content::PIXEL), "mimeType": "image/png"})
}

pub(super) fn sound() -> Value {
    json!({"type": "audio", "data": STANDARD.encode(content::SILENCE), "mimeType": "audio/wav"})
}

pub(super) fn embedded_resource() -> Value {
    let resource = json!({
        "uri": "test://embedded-resource",
        "mimeType": "text/plain",
        "text": "This is an embedded resource content.",
    });
    json!({"type": "resource", "resource": resource})
}

pub(super) fn resources() -> Vec<Value> {
    let resource = |uri: &str, description: &str, kind: &str| {
        let name = uri.strip_prefix("test://").unwrap_or(uri);
        json!({"uri": uri, "name": name, "description": description, "mimeType": kind})
    };
    vec![
        resource("test://static-text", "A text that stays.", "text/plain"),
        resource("test://static-binary", "A picture that stays.", "image/png"),
        resource(WATCHED, "A text that can be watched.", "text/plain"),
    ]
}

pub(super) fn templates() -> Vec<Value> {
    vec![json!({
        "uriTemplate": "test://template/{id}/data",
        "name": "template",
        "description": "An object made from its address.",
        "mimeType": "application/json",
    })]
}

pub(super) fn read(uri: &str, spoken: &MessageEra) -> RpcAnswer {
    let inner = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
    let contents = match (uri, inner) {
        ("test://static-text", _) => json!({
            "uri": uri, "mimeType": "text/plain",
            "text": "This is the content of the static text resource.",
        }),
        ("test://static-binary", _) => {
            json!({"uri": uri, "mimeType": "image/png", "blob": STANDARD.encode(content::PIXEL)})
        }
        (WATCHED, _) => json!({"uri": uri, "mimeType": "text/plain", "text": "Watched."}),
        (_, Some(id)) if !id.is_empty() => {
            let data = format!("Data for ID: {id}");
            let text = json!({"id": id, "templateTest": true, "data": data}).to_string();
            json!({"uri": uri, "mimeType": "application/json", "text": text})
        }
        _ => {
            let modern = *spoken == MessageEra::Modern;
            return RpcAnswer::Refusal {
                code: if modern { INVALID_PARAMS } else { NOT_FOUND_BEFORE_MODERN },
                message: "Resource not found".to_owned(),
                data: Some(json!({ "uri": uri })),
            };
        }
    };
    RpcAnswer::Result(json!({"contents": [contents]}))
}
