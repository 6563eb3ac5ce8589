//! Parses a result into items; content of unknown types is kept as raw JSON.

use serde_json::value::RawValue;
use switchboard_json::{RawMembers, pretty, text};

use crate::media::{guess_media_type, is_media_type};

/// A parsed result of a server.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reply {
    pub items: Vec<Item>,
    /// The structured content, as JSON text.
    pub structured: Option<String>,
    pub is_error: bool,
}

/// One item of content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    Text(String),
    Image {
        /// The media type; detected from the first bytes if the server did not send a valid one.
        mime: String,
        data: String,
    },
    Audio {
        /// The media type; detected from the first bytes if the server did not send a valid one.
        mime: String,
        data: String,
    },
    Resource {
        uri: String,
        mime: Option<String>,
        text: Option<String>,
        /// Binary content, encoded as base64.
        blob: Option<String>,
        /// All fields except the base64 content, as pretty-printed JSON.
        pretty: String,
    },
    /// A resource that can be read in another call.
    ResourceLink {
        uri: String,
        name: Option<String>,
        description: Option<String>,
        mime: Option<String>,
    },
    Message {
        role: String,
        content: Box<Self>,
    },
    /// Content of an unknown type, or without the fields that its type requires.
    Other {
        /// The declared type, or empty.
        kind: String,
        raw: String,
    },
}

/// The answer is not a result of the requested kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the answer is not a result: {0}")]
pub struct InvalidOutput(String);

impl Reply {
    /// Parses the result of a tool, which has content, structured content or both.
    pub fn from_json(json: &str) -> Result<Self, InvalidOutput> {
        let fields = parse_object(json)?;
        let structured = fields.get("structuredContent").map(|value| value.get().to_owned());
        let items = match fields.get("content") {
            Some(content) => as_list(content).into_iter().map(parse_item).collect(),
            // The protocol requires `content`, but structured content alone is usable.
            None if structured.is_some() => Vec::new(),
            None => return Err(missing_field("`content`")),
        };
        // Some servers send the boolean as a string; its meaning is unambiguous.
        let is_error =
            fields.get("isError").is_some_and(|value| matches!(value.get(), "true" | "\"true\""));
        Ok(Self { items, structured, is_error })
    }

    /// Parses the result of reading a resource.
    pub fn from_resource_json(json: &str) -> Result<Self, InvalidOutput> {
        let contents =
            parse_object(json)?.get("contents").ok_or_else(|| missing_field("`contents`"))?;
        let items = as_list(contents).into_iter().map(|value| parse_resource(value, value));
        Ok(Self { items: items.collect(), ..Self::default() })
    }

    /// Parses the result of getting a prompt.
    pub fn from_prompt_json(json: &str) -> Result<Self, InvalidOutput> {
        let messages =
            parse_object(json)?.get("messages").ok_or_else(|| missing_field("`messages`"))?;
        let items = as_list(messages).into_iter().flat_map(parse_message).collect();
        Ok(Self { items, ..Self::default() })
    }

    /// Returns the structured content, pretty-printed.
    pub fn structured_pretty(&self) -> Option<String> {
        let raw: &RawValue = serde_json::from_str(self.structured.as_ref()?).ok()?;
        Some(pretty(raw))
    }
}

fn parse_object(json: &str) -> Result<RawMembers<'_>, InvalidOutput> {
    serde_json::from_str(json).map_err(|error| InvalidOutput(error.to_string()))
}

fn missing_field(name: &str) -> InvalidOutput {
    InvalidOutput(format!("it has no {name}"))
}

/// Returns the values of an array; any other value counts as an array of one.
fn as_list(value: &RawValue) -> Vec<&RawValue> {
    serde_json::from_str(value.get()).unwrap_or_else(|_| vec![value])
}

fn parse_item(value: &RawValue) -> Item {
    // A bare string violates the protocol, but its meaning is clear.
    if let Some(text) = text(value) {
        return Item::Text(text);
    }
    let fields = RawMembers::parse(value.get()).unwrap_or_default();
    let kind = fields.text("type").unwrap_or_default();
    let known = match kind.as_str() {
        "text" => fields.text("text").map(Item::Text),
        "image" => parse_media(&fields).map(|(mime, data)| Item::Image { mime, data }),
        "audio" => parse_media(&fields).map(|(mime, data)| Item::Audio { mime, data }),
        "resource" => fields.get("resource").map(|inner| parse_resource(inner, value)),
        "resource_link" => parse_link(&fields),
        _ => None,
    };
    known.unwrap_or_else(|| Item::Other { kind, raw: value.get().to_owned() })
}

fn parse_media(fields: &RawMembers<'_>) -> Option<(String, String)> {
    let data = fields.text("data")?;
    // The media type is forwarded to model vendors, so only a well-formed one is accepted.
    let mime = fields.text("mimeType").filter(|mime| is_media_type(mime));
    Some((mime.unwrap_or_else(|| guess_media_type(&data).to_owned()), data))
}

fn parse_resource(inner: &RawValue, whole: &RawValue) -> Item {
    let fields = RawMembers::parse(inner.get()).unwrap_or_default();
    // Without a URI the raw JSON is kept: no field of the server's answer is lost.
    let Some(uri) = fields.text("uri") else {
        return Item::Other { kind: "resource".to_owned(), raw: whole.get().to_owned() };
    };
    Item::Resource {
        uri,
        mime: fields.text("mimeType"),
        text: fields.text("text"),
        blob: fields.text("blob"),
        pretty: fields.pretty_without("blob"),
    }
}

fn parse_link(fields: &RawMembers<'_>) -> Option<Item> {
    Some(Item::ResourceLink {
        uri: fields.text("uri")?,
        // In the protocol, `title` is for display and `name` is the identifier.
        name: fields.text("title").or_else(|| fields.text("name")),
        description: fields.text("description"),
        mime: fields.text("mimeType"),
    })
}

/// Parses a message; one with several content blocks becomes several items of the same role.
fn parse_message(value: &RawValue) -> Vec<Item> {
    let fields = RawMembers::parse(value.get()).unwrap_or_default();
    let Some(content) = fields.get("content") else {
        return vec![Item::Other { kind: "message".to_owned(), raw: value.get().to_owned() }];
    };
    let role = fields.text("role").unwrap_or_default();
    let message =
        |piece| Item::Message { role: role.clone(), content: Box::new(parse_item(piece)) };
    as_list(content).into_iter().map(message).collect()
}

#[cfg(test)]
#[path = "content_tests.rs"]
mod tests;
