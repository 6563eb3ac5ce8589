//! Samples of every kind of content.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::message_era::MessageEra;

/// A PNG of one grey pixel.
pub(crate) const PIXEL: &[u8] = &[
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48, 0x44, 0x52,
    0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x00, 0x00, 0x00, 0x00, 0x3a, 0x7e, 0x9b,
    0x55, 0x00, 0x00, 0x00, 0x0a, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9c, 0x63, 0x68, 0x00, 0x00, 0x00,
    0x82, 0x00, 0x81, 0x77, 0xcd, 0x72, 0xb6, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae,
    0x42, 0x60, 0x82,
];

/// A WAV file that holds no samples.
pub(crate) const SILENCE: &[u8] = &[
    b'R', b'I', b'F', b'F', 36, 0, 0, 0, b'W', b'A', b'V', b'E', b'f', b'm', b't', b' ', 16, 0, 0,
    0, 1, 0, 1, 0, 0x40, 0x1f, 0, 0, 0x40, 0x1f, 0, 0, 1, 0, 8, 0, b'd', b'a', b't', b'a', 0, 0, 0,
    0,
];

/// One item of each kind that the revision knows.
pub(crate) fn every_kind(spoken: &MessageEra) -> Vec<Value> {
    let pixel = STANDARD.encode(PIXEL);
    let mut items = vec![
        json!({"type": "text", "text": "A line of text."}),
        json!({"type": "image", "data": pixel, "mimeType": "image/png"}),
    ];
    if spoken.has("2025-03-26") {
        let silence = STANDARD.encode(SILENCE);
        items.push(json!({"type": "audio", "data": silence, "mimeType": "audio/wav"}));
    }
    items.push(json!({"type": "resource", "resource": {
        "uri": "test://static-text", "mimeType": "text/plain", "text": "The text of a resource.",
    }}));
    items.push(json!({"type": "resource", "resource": {
        "uri": "test://static-binary", "mimeType": "image/png", "blob": pixel,
    }}));
    if spoken.has("2025-06-18") {
        items.push(json!({
            "type": "resource_link", "uri": "test://template/7", "name": "seven",
            "description": "A link to read later.", "mimeType": "application/json",
        }));
    }
    items
}

pub(crate) fn text(text: impl Into<String>) -> Value {
    json!({"content": [{"type": "text", "text": text.into()}]})
}

pub(crate) fn failure(message: impl Into<String>) -> Value {
    json!({"content": [{"type": "text", "text": message.into()}], "isError": true})
}

/// A JSON value as text, and as structured content where the revision has it.
pub(crate) fn structured_result(value: &Value, spoken: &MessageEra) -> Value {
    let mut result = text(value.to_string());
    if spoken.has("2025-06-18") {
        result["structuredContent"] = value.clone();
    }
    result
}
