//! A result as a list of items: what the protocol knows is recognised, the rest is left alone.

use serde_json::value::RawValue;
use switchboard_json::{RawMembers, pretty, text};

use crate::media::{guess_media_type, is_media_type};

/// A result as its readers see it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reply {
    /// The content, in the order in which it was sent.
    pub items: Vec<Item>,
    /// The JSON text of the structured content.
    pub structured: Option<String>,
    /// Whether the tool reports a failure.
    pub is_error: bool,
}

/// One piece of content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    Text(String),
    Image {
        /// Its type; guessed from its first bytes if the server did not say.
        mime: String,
        data: String,
    },
    Audio {
        /// Its type; guessed from its first bytes if the server did not say.
        mime: String,
        data: String,
    },
    /// A resource with its content.
    Resource {
        uri: String,
        /// Its type, if the server said.
        mime: Option<String>,
        /// Its content as text.
        text: Option<String>,
        /// Its content as base64.
        blob: Option<String>,
        /// All fields but the base64 content, as JSON over several lines.
        pretty: String,
    },
    /// A resource that can be read in another call.
    ResourceLink {
        uri: String,
        name: Option<String>,
        description: Option<String>,
        mime: Option<String>,
    },
    /// A message of a prompt.
    Message {
        role: String,
        content: Box<Self>,
    },
    /// Something this version does not know, or that lacks what its type promises.
    Other {
        /// The type it claims to have; empty if none.
        kind: String,
        raw: String,
    },
}

/// The answer is not a result of the kind that was asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the answer is not a result: {0}")]
pub struct InvalidOutput(String);

impl Reply {
    /// Reads what a tool returned.
    ///
    /// # Errors
    /// If the text is not a JSON object, or has neither content nor structured content.
    pub fn from_json(json: &str) -> Result<Self, InvalidOutput> {
        let fields = parse_object(json)?;
        let structured = fields.get("structuredContent").map(|value| value.get().to_owned());
        let items = match fields.get("content") {
            Some(content) => as_list(content).into_iter().map(parse_item).collect(),
            None if structured.is_some() => Vec::new(),
            None => return Err(missing_field("`content`")),
        };
        // Some servers send a boolean as text; the word is clear all the same.
        let is_error =
            fields.get("isError").is_some_and(|value| matches!(value.get(), "true" | "\"true\""));
        Ok(Self { items, structured, is_error })
    }

    /// Reads what came of reading a resource.
    ///
    /// # Errors
    /// If the text is not a JSON object with `contents`.
    pub fn from_resource_json(json: &str) -> Result<Self, InvalidOutput> {
        let contents =
            parse_object(json)?.get("contents").ok_or_else(|| missing_field("`contents`"))?;
        let items =
            as_list(contents).into_iter().map(|value| parse_resource(value, value)).collect();
        Ok(Self { items, ..Self::default() })
    }

    /// Reads what came of fetching a prompt.
    ///
    /// # Errors
    /// If the text is not a JSON object with `messages`.
    pub fn from_prompt_json(json: &str) -> Result<Self, InvalidOutput> {
        let messages =
            parse_object(json)?.get("messages").ok_or_else(|| missing_field("`messages`"))?;
        let items = as_list(messages).into_iter().flat_map(parse_message).collect();
        Ok(Self { items, ..Self::default() })
    }

    /// The structured content over several lines.
    #[must_use]
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

/// The values of an array; a value that stands alone where an array belongs counts as one.
fn as_list(value: &RawValue) -> Vec<&RawValue> {
    serde_json::from_str(value.get()).unwrap_or_else(|_| vec![value])
}

fn parse_item(value: &RawValue) -> Item {
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
    // A model's vendor takes it as it is, so it must be a type and nothing else.
    let mime = fields.text("mimeType").filter(|mime| is_media_type(mime));
    Some((mime.unwrap_or_else(|| guess_media_type(&data).to_owned()), data))
}

fn parse_resource(inner: &RawValue, whole: &RawValue) -> Item {
    let fields = RawMembers::parse(inner.get()).unwrap_or_default();
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
        name: fields.text("title").or_else(|| fields.text("name")),
        description: fields.text("description"),
        mime: fields.text("mimeType"),
    })
}

/// A message with several pieces of content becomes several items of one speaker.
fn parse_message(value: &RawValue) -> Vec<Item> {
    let fields = RawMembers::parse(value.get()).unwrap_or_default();
    let Some(content) = fields.get("content") else {
        return vec![Item::Other { kind: "message".to_owned(), raw: value.get().to_owned() }];
    };
    let role = fields.text("role").unwrap_or_default();
    let pieces = as_list(content).into_iter();
    pieces
        .map(|piece| Item::Message { role: role.clone(), content: Box::new(parse_item(piece)) })
        .collect()
}

#[cfg(test)]
#[path = "content_tests.rs"]
mod tests;
