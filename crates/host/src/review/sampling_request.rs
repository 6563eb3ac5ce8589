//! Parses sampling requests: messages, tools and model preferences.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use switchboard_core::{
    ModelPreferences, SampleMedia, SampleMessage, SamplePart, SampleRole, SampleTool,
    SampleToolChoice,
};
use switchboard_text::excerpt_text;
use switchboard_wire::Json;

use crate::review::ask::BadAsk;

/// A sampling request for which no model is chosen yet.
#[derive(Debug, PartialEq)]
pub(super) struct SamplingRequest {
    pub(super) preferences: ModelPreferences,
    pub(super) system: String,
    pub(super) messages: Vec<SampleMessage>,
    pub(super) tools: Vec<SampleTool>,
    pub(super) tool_choice: SampleToolChoice,
    pub(super) max_tokens: usize,
    pub(super) temperature: Option<f64>,
    pub(super) stop_sequences: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawSamplingParams<'a> {
    #[serde(borrow)]
    messages: Vec<RawMessage<'a>>,
    max_tokens: Option<f64>,
    model_preferences: Option<RawPreferences>,
    system_prompt: Option<String>,
    include_context: Option<String>,
    temperature: Option<f64>,
    stop_sequences: Option<Vec<String>>,
    #[serde(borrow)]
    tools: Option<Vec<RawTool<'a>>>,
    tool_choice: Option<RawToolChoice>,
}

#[derive(Deserialize)]
struct RawMessage<'a> {
    role: String,
    #[serde(borrow)]
    content: &'a RawValue,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RawPreferences {
    hints: Vec<RawModelHint>,
    cost_priority: Option<f64>,
    speed_priority: Option<f64>,
    intelligence_priority: Option<f64>,
}

#[derive(Deserialize)]
struct RawModelHint {
    name: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawTool<'a> {
    name: String,
    description: Option<String>,
    #[serde(borrow)]
    input_schema: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct RawToolChoice {
    mode: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawContentBlock {
    #[serde(rename = "type")]
    kind: String,
    text: Option<String>,
    data: Option<String>,
    mime_type: Option<String>,
    id: Option<String>,
    name: Option<String>,
    input: Option<Value>,
    tool_use_id: Option<String>,
    content: Option<Vec<Self>>,
    structured_content: Option<Value>,
    is_error: Option<bool>,
}

/// Parses the parameters of `sampling/createMessage`.
pub(super) fn parse_request(params: Option<&Json>) -> Result<SamplingRequest, BadAsk> {
    let params = params.ok_or_else(|| BadAsk::new_malformed("the request has no parameters"))?;
    let params: RawSamplingParams<'_> = params.read().map_err(|error| unreadable_error(&error))?;
    // A server must not see the context of other servers; its own, `thisServer`, it knows already.
    if let Some("allServers") = params.include_context.as_deref() {
        let why = "it requests the context of all servers, which is not allowed";
        return Err(BadAsk::new_unsafe(why));
    }
    let messages: Result<Vec<_>, _> = params.messages.iter().map(parse_message).collect();
    let messages = messages?;
    if messages.is_empty() {
        return Err(BadAsk::new_malformed("the request has no messages"));
    }
    check_calls(&messages)?;
    let tool_choice = match params.tool_choice.and_then(|choice| choice.mode).as_deref() {
        None | Some("auto") => SampleToolChoice::Auto,
        Some("required") => SampleToolChoice::Required,
        Some("none") => SampleToolChoice::None,
        Some(mode) => {
            let mode = excerpt_text(mode, 40);
            return Err(BadAsk::new_malformed(format!("unknown tool choice `{mode}`")));
        }
    };
    let preferences = params.model_preferences.unwrap_or_default();
    let most = params.max_tokens.filter(|most| *most >= 1.0).unwrap_or(f64::MAX);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a float that is too large becomes the largest number"
    )]
    let max_tokens = most as usize;
    Ok(SamplingRequest {
        preferences: ModelPreferences {
            only: None,
            hints: preferences.hints.into_iter().filter_map(|hint| hint.name).take(20).collect(),
            cost: preferences.cost_priority,
            speed: preferences.speed_priority,
            intelligence: preferences.intelligence_priority,
        },
        system: params.system_prompt.unwrap_or_default(),
        messages,
        tools: params.tools.unwrap_or_default().into_iter().map(parse_tool).collect(),
        tool_choice,
        max_tokens,
        temperature: params.temperature,
        stop_sequences: params.stop_sequences.unwrap_or_default(),
    })
}

fn unreadable_error(error: &serde_json::Error) -> BadAsk {
    BadAsk::new_malformed(format!("the request cannot be read: {error}"))
}

fn parse_tool(raw: RawTool<'_>) -> SampleTool {
    SampleTool {
        name: raw.name,
        description: raw.description,
        input_schema: raw.input_schema.map(|schema| schema.get().to_owned()),
    }
}

fn parse_message(raw: &RawMessage<'_>) -> Result<SampleMessage, BadAsk> {
    let role = match raw.role.as_str() {
        "user" => SampleRole::User,
        "assistant" => SampleRole::Assistant,
        role => {
            let role = excerpt_text(role, 40);
            return Err(BadAsk::new_malformed(format!("unknown role `{role}`")));
        }
    };
    let text = raw.content.get();
    let blocks: Result<Vec<RawContentBlock>, _> = if text.starts_with('[') {
        serde_json::from_str(text)
    } else {
        serde_json::from_str(text).map(|block| vec![block])
    };
    let blocks = blocks.map_err(|error| unreadable_error(&error))?;
    let parts: Result<Vec<_>, _> = blocks.into_iter().map(parse_part).collect();
    Ok(SampleMessage { role, parts: parts? })
}

fn parse_part(block: RawContentBlock) -> Result<SamplePart, BadAsk> {
    let missing =
        |what: &str| BadAsk::new_malformed(format!("a part of a message has no `{what}`"));
    Ok(match block.kind.as_str() {
        "text" => SamplePart::Text(block.text.ok_or_else(|| missing("text"))?),
        "image" => SamplePart::Image(parse_media(block).ok_or_else(|| missing("data"))?),
        "audio" => SamplePart::Audio(parse_media(block).ok_or_else(|| missing("data"))?),
        "tool_use" => SamplePart::Call {
            id: block.id.ok_or_else(|| missing("id"))?,
            name: block.name.ok_or_else(|| missing("name"))?,
            input: block.input.unwrap_or_else(|| Value::Object(serde_json::Map::new())),
        },
        "tool_result" => parse_result(block)?,
        kind => {
            let kind = excerpt_text(kind, 40);
            return Err(BadAsk::new_malformed(format!("unknown content type `{kind}`")));
        }
    })
}

fn parse_media(block: RawContentBlock) -> Option<SampleMedia> {
    Some(SampleMedia { mime: block.mime_type.unwrap_or_default(), data: block.data? })
}

fn parse_result(block: RawContentBlock) -> Result<SamplePart, BadAsk> {
    let id = block.tool_use_id;
    let id = id.ok_or_else(|| BadAsk::new_malformed("a result has no `toolUseId`"))?;
    let mut texts = Vec::new();
    let mut images = Vec::new();
    for inner in block.content.unwrap_or_default() {
        match inner.kind.as_str() {
            "text" => texts.extend(inner.text),
            "image" => images.extend(parse_media(inner)),
            kind => texts.push(format!("({} omitted)", excerpt_text(kind, 40))),
        }
    }
    if texts.is_empty()
        && let Some(structured) = block.structured_content
    {
        texts.push(structured.to_string());
    }
    let failed = block.is_error.unwrap_or(false);
    Ok(SamplePart::Result { id, text: texts.join("\n"), images, failed })
}

/// Checks that the message after a tool call contains its result, and only results.
fn check_calls(messages: &[SampleMessage]) -> Result<(), BadAsk> {
    // MCP requires both, because vendors reject other sequences.
    let mut open: Vec<&str> = Vec::new();
    for message in messages {
        let results: Vec<&str> = message.parts.iter().filter_map(result_id).collect();
        if !results.is_empty() && results.len() < message.parts.len() {
            return Err(BadAsk::new_malformed("a message mixes results with other content"));
        }
        let is_answered = |id: &&str| results.contains(id);
        if !open.iter().all(is_answered) {
            return Err(BadAsk::new_malformed("a call in the messages has no result"));
        }
        if let Some(id) = results.iter().find(|id| !open.contains(id)) {
            let id = excerpt_text(id, 40);
            return Err(BadAsk::new_malformed(format!("the result `{id}` belongs to no call")));
        }
        open = message.parts.iter().filter_map(call_id).collect();
    }
    Ok(())
}

fn call_id(part: &SamplePart) -> Option<&str> {
    if let SamplePart::Call { id, .. } = part { Some(id) } else { None }
}

fn result_id(part: &SamplePart) -> Option<&str> {
    if let SamplePart::Result { id, .. } = part { Some(id) } else { None }
}
