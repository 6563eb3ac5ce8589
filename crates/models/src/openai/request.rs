//! Builds request bodies for chat completions.

use serde_json::{Value, json};
use switchboard_prompting::{ModelInfo, ModelRequest, ModelToolChoice, RequestedCall};

use crate::history::{AnsweredCall, Picture, VendorTurn, arguments, tools, turns};
use crate::protocol::RequestForm;

pub(super) fn body(
    request: &ModelRequest,
    about: &ModelInfo,
    form: RequestForm,
    max_tokens_member: &str,
) -> Value {
    let mut messages = Vec::new();
    if !request.system.is_empty() {
        messages.push(json!({ "role": "system", "content": request.system }));
    }
    for turn in turns(&request.messages, about) {
        match turn {
            VendorTurn::User { text, images } => messages.push(user(&text, &images)),
            VendorTurn::Assistant { text, calls, kept } => messages.push(match kept {
                Some(kept) => vendor_message(kept, calls),
                None => assistant(text, calls.iter().map(call).collect()),
            }),
            VendorTurn::Results(results) => {
                messages.extend(results.iter().map(result));
                messages.extend(pictures(&results));
            }
        }
    }
    let mut body = json!({ "model": about.model, "messages": messages, "stream": true });
    if let Some(members) = body.as_object_mut() {
        if form == RequestForm::Full {
            // Without it, the vendor reports no token counts. Older servers reject it.
            members.insert("stream_options".to_owned(), json!({ "include_usage": true }));
        }
        if let Some(tools) = tools(&request.tools) {
            members.insert("tools".to_owned(), json!(tools));
            let choice = match request.options.tool_choice {
                ModelToolChoice::Auto => None,
                ModelToolChoice::Required => Some("required"),
                ModelToolChoice::None => Some("none"),
            };
            members.extend(choice.map(|choice| ("tool_choice".to_owned(), json!(choice))));
        }
        members.extend(request_options(request, max_tokens_member));
    }
    body
}

fn request_options(
    request: &ModelRequest,
    max_tokens_member: &str,
) -> serde_json::Map<String, Value> {
    let wishes = &request.options;
    let stop = (!wishes.stop.is_empty()).then(|| json!(wishes.stop));
    let members = [
        (max_tokens_member, wishes.max_tokens.map(|most| json!(most))),
        ("temperature", wishes.temperature.map(|daring| json!(daring))),
        ("stop", stop),
    ];
    members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// Builds a message of the assistant with these entries of `tool_calls`.
pub(super) fn assistant(text: &str, calls: Vec<Value>) -> Value {
    let content = if text.is_empty() { Value::Null } else { json!(text) };
    let mut message = json!({ "role": "assistant", "content": content });
    // The vendor rejects an empty list of calls.
    if !calls.is_empty()
        && let Some(members) = message.as_object_mut()
    {
        members.insert("tool_calls".to_owned(), Value::Array(calls));
    }
    message
}

fn call(call: &RequestedCall) -> Value {
    // Some servers parse the arguments, so they must be an object whatever the model wrote.
    let is_object = serde_json::from_str::<Value>(&call.arguments).is_ok_and(|it| it.is_object());
    let text = if is_object { call.arguments.clone() } else { arguments(call).to_string() };
    tool_call(Some(&call.id), &call.name, &text)
}

/// Builds an entry of `tool_calls`.
pub(super) fn tool_call(id: Option<&str>, name: &str, arguments: &str) -> Value {
    let function = json!({ "name": name, "arguments": arguments });
    json!({ "id": id, "type": "function", "function": function })
}

/// Returns the server's original message, with our ids for calls without one.
fn vendor_message(kept: &Value, calls: &[RequestedCall]) -> Value {
    let mut message = kept.clone();
    let entries = message.get_mut("tool_calls").and_then(Value::as_array_mut);
    for (entry, call) in entries.into_iter().flatten().zip(calls) {
        if entry.get("id").is_none_or(Value::is_null)
            && let Some(members) = entry.as_object_mut()
        {
            members.insert("id".to_owned(), json!(call.id));
        }
    }
    message
}

fn user(text: &str, images: &[Picture<'_>]) -> Value {
    if images.is_empty() {
        return json!({ "role": "user", "content": text });
    }
    let mut parts = Vec::new();
    if !text.is_empty() {
        parts.push(json!({ "type": "text", "text": text }));
    }
    parts.extend(images.iter().map(picture));
    json!({ "role": "user", "content": parts })
}

fn picture(image: &Picture<'_>) -> Value {
    let url = format!("data:{};base64,{}", image.mime, image.data);
    json!({ "type": "image_url", "image_url": { "url": url } })
}

fn result(result: &AnsweredCall<'_>) -> Value {
    json!({ "role": "tool", "tool_call_id": result.id, "content": result.text })
}

/// Builds a user message with the images of results, which tool messages cannot contain.
fn pictures(results: &[AnsweredCall<'_>]) -> Option<Value> {
    let mut parts = Vec::new();
    for result in results.iter().filter(|result| !result.images.is_empty()) {
        let text = format!("From the result of `{}` (call `{}`):", result.name, result.id);
        parts.push(json!({ "type": "text", "text": text }));
        parts.extend(result.images.iter().map(picture));
    }
    (!parts.is_empty()).then(|| json!({ "role": "user", "content": parts }))
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
