//! Builds request bodies for Anthropic's Messages API.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use switchboard_prompting::{ModelInfo, ModelRequest, ModelToolChoice, RequestedCall};

use crate::history::{AnsweredCall, Picture, VendorTurn, arguments, tools, turns};

pub(super) fn body(request: &ModelRequest, about: &ModelInfo) -> Value {
    let mut messages = messages(request, about);
    cache_conversation(&mut messages);
    let most = max_tokens(&about.model);
    let most = request.options.max_tokens.map_or(most, |wanted| wanted.clamp(1, most));
    let mut body = json!({ "model": about.model, "max_tokens": most, "stream": true });
    let Some(members) = body.as_object_mut() else { return body };
    if !request.system.trim().is_empty() {
        let mut system = json!({ "type": "text", "text": request.system });
        cache(&mut system);
        members.insert("system".to_owned(), json!([system]));
    }
    let mut tools = tools(&request.tools).cloned().unwrap_or_default();
    if tools.is_empty() {
        // Past calls need definitions, even if no tool may be called any more.
        tools = called_tools(&messages).into_iter().map(past_tool).collect();
        if !tools.is_empty() {
            members.insert("tool_choice".to_owned(), json!({ "type": "none" }));
        }
    }
    let choice = match request.options.tool_choice {
        ModelToolChoice::Auto => None,
        ModelToolChoice::Required => Some("any"),
        ModelToolChoice::None => Some("none"),
    };
    if let Some(choice) = choice.filter(|_| !tools.is_empty()) {
        members.insert("tool_choice".to_owned(), json!({ "type": choice }));
    }
    if let Some(daring) = request.options.temperature {
        members.insert("temperature".to_owned(), json!(daring.clamp(0.0, 1.0)));
    }
    // The vendor rejects blank stop sequences.
    let stop: Vec<&String> =
        request.options.stop.iter().filter(|stop| !stop.trim().is_empty()).collect();
    if !stop.is_empty() {
        members.insert("stop_sequences".to_owned(), json!(stop));
    }
    if let Some(last) = tools.last_mut() {
        cache(last);
        members.insert("tools".to_owned(), Value::Array(tools));
    }
    members.insert("messages".to_owned(), Value::Array(messages));
    body
}

/// Returns the maximum output length of a model.
fn max_tokens(model: &str) -> usize {
    // The vendor requires `max_tokens`, and rejects a value above the limit of the model.
    let is = |part: &str| model.contains(part);
    if is("claude-3-opus") || is("claude-3-haiku") || is("claude-3-sonnet") || is("claude-2") {
        4_096
    } else if is("claude-3-5") {
        8_192
    } else {
        32_000
    }
}

/// Builds messages with alternating roles, which the vendor requires.
fn messages(request: &ModelRequest, about: &ModelInfo) -> Vec<Value> {
    let mut messages: Vec<(&'static str, Vec<Value>)> = Vec::new();
    for turn in turns(&request.messages, about) {
        let (role, blocks) = match turn {
            VendorTurn::User { text, images } => ("user", text_and_images(&text, &images)),
            VendorTurn::Assistant { text, calls, kept } => {
                let kept = kept.and_then(Value::as_array).cloned();
                ("assistant", kept.unwrap_or_else(|| assistant_blocks(text, calls)))
            }
            VendorTurn::Results(results) => ("user", results.iter().map(result).collect()),
        };
        match messages.last_mut() {
            Some((last, earlier)) if *last == role => earlier.extend(blocks),
            _ => messages.push((role, blocks)),
        }
    }
    let message = |(role, blocks)| json!({ "role": role, "content": Value::Array(blocks) });
    messages.into_iter().map(message).collect()
}

fn assistant_blocks(text: &str, calls: &[RequestedCall]) -> Vec<Value> {
    // The vendor rejects trailing white space in the last message.
    let mut blocks: Vec<Value> = text_block(text.trim_end()).into_iter().collect();
    blocks.extend(calls.iter().map(|call| {
        json!({ "type": "tool_use", "id": id(&call.id), "name": call.name, "input": arguments(call) })
    }));
    blocks
}

fn result(result: &AnsweredCall<'_>) -> Value {
    let mut block = json!({ "type": "tool_result", "tool_use_id": id(result.id) });
    let content = text_and_images(&result.text, &result.images);
    if let Some(members) = block.as_object_mut() {
        if !content.is_empty() {
            members.insert("content".to_owned(), Value::Array(content));
        }
        if result.failed {
            members.insert("is_error".to_owned(), Value::Bool(true));
        }
    }
    block
}

/// Replaces characters of other vendors' call ids that this vendor does not allow.
fn id(name: &str) -> String {
    let fine = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    name.chars().map(fine).collect()
}

fn text_and_images(text: &str, images: &[Picture<'_>]) -> Vec<Value> {
    text_block(text).into_iter().chain(images.iter().map(picture)).collect()
}

fn text_block(text: &str) -> Option<Value> {
    // The vendor rejects blank text blocks.
    (!text.trim().is_empty()).then(|| json!({ "type": "text", "text": text }))
}

fn picture(image: &Picture<'_>) -> Value {
    let source = json!({ "type": "base64", "media_type": image.mime, "data": image.data });
    json!({ "type": "image", "source": source })
}

fn called_tools(messages: &[Value]) -> BTreeSet<&str> {
    let contents = messages.iter().filter_map(|message| message.get("content")?.as_array());
    contents
        .flatten()
        .filter(|block| block.get("type").and_then(Value::as_str) == Some("tool_use"))
        .filter_map(|block| block.get("name")?.as_str())
        .collect()
}

fn past_tool(name: &str) -> Value {
    json!({ "name": name, "description": "Not available.", "input_schema": { "type": "object" } })
}

/// Marks the newest message as a cache breakpoint.
fn cache_conversation(messages: &mut [Value]) {
    // Not in messages of the model: their content must be sent back unchanged.
    let ours = |message: &&mut Value| message.get("role").and_then(Value::as_str) == Some("user");
    let newest = messages.last_mut().filter(ours);
    let blocks = newest.and_then(|message| message.get_mut("content")?.as_array_mut());
    if let Some(last) = blocks.and_then(|blocks| blocks.last_mut()) {
        cache(last);
    }
}

fn cache(block: &mut Value) {
    if let Some(members) = block.as_object_mut() {
        members.insert("cache_control".to_owned(), json!({ "type": "ephemeral" }));
    }
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
