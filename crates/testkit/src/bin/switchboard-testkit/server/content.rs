//! Samples of every kind of content.

use serde_json::{Value, json};

use super::message_era::MessageEra;

/// A PNG of one grey pixel, in Base64.
pub(crate) const PIXEL: &str = concat!(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNo",
    "AAAAggCBd81ytgAAAABJRU5ErkJggg=="
);

/// A WAV file that holds no samples, in Base64.
pub(crate) const SILENCE: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

/// Returns one item of each kind that the revision knows.
pub(crate) fn every_kind(spoken: &MessageEra) -> Vec<Value> {
    let mut items = vec![
        json!({"type": "text", "text": "A line of text."}),
        json!({"type": "image", "data": PIXEL, "mimeType": "image/png"}),
    ];
    if spoken.has("2025-03-26") {
        items.push(json!({"type": "audio", "data": SILENCE, "mimeType": "audio/wav"}));
    }
    items.push(json!({"type": "resource", "resource": {
        "uri": "test://static-text", "mimeType": "text/plain", "text": "The text of a resource.",
    }}));
    items.push(json!({"type": "resource", "resource": {
        "uri": "test://static-binary", "mimeType": "image/png", "blob": PIXEL,
    }}));
    if spoken.has("2025-06-18") {
        items.push(json!({
            "type": "resource_link", "uri": "test://template/7", "name": "seven",
            "description": "A link to read later.", "mimeType": "application/json",
        }));
    }
    items
}

pub(crate) fn tool(name: &str, description: &str, properties: &Value, required: &[&str]) -> Value {
    json!({
        "name": name,
        "description": description,
        "inputSchema": {"type": "object", "properties": properties, "required": required},
    })
}

pub(crate) fn text(text: impl Into<String>) -> Value {
    json!({"content": [{"type": "text", "text": text.into()}]})
}

pub(crate) fn failure(message: impl Into<String>) -> Value {
    json!({"content": [{"type": "text", "text": message.into()}], "isError": true})
}

/// Returns a JSON value as text, and as structured content if the revision has it.
pub(crate) fn structured_result(value: &Value, spoken: &MessageEra) -> Value {
    let mut result = text(value.to_string());
    if spoken.has("2025-06-18") {
        result["structuredContent"] = value.clone();
    }
    result
}
