//! Tool results: content blocks and, where applicable, structured content.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use crate::error::ToolRefusal;

#[derive(Debug, Default, PartialEq)]
pub(crate) struct ToolResult {
    content: Vec<Value>,
    structured: Option<Value>,
    is_error: bool,
}

impl ToolResult {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::default().with_text(text)
    }

    pub(crate) fn image(bytes: &[u8], mime_type: &str) -> Self {
        let image = json!({ "type": "image", "data": to_base64(bytes), "mimeType": mime_type });
        Self { content: vec![image], ..Self::default() }
    }

    /// Converts a refusal into an error result, which the model can read and act on.
    pub(crate) fn from_refusal(refusal: &ToolRefusal) -> Self {
        Self { is_error: true, ..Self::text(refusal.full_text()) }
    }

    pub(crate) fn with_text(mut self, text: impl Into<String>) -> Self {
        self.content.push(json!({ "type": "text", "text": text.into() }));
        self
    }

    pub(crate) fn with_structured(mut self, value: Value) -> Self {
        self.structured = Some(value);
        self
    }

    pub(crate) fn into_body(self) -> Map<String, Value> {
        let mut body = Map::new();
        body.insert("content".to_owned(), Value::Array(self.content));
        body.insert("isError".to_owned(), Value::Bool(self.is_error));
        if let Some(structured) = self.structured {
            body.insert("structuredContent".to_owned(), structured);
        }
        body
    }
}

pub(crate) fn to_base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}
