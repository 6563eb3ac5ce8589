//! Builds request bodies for Gemini.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use switchboard_prompting::{ModelInfo, ModelRequest, ModelToolChoice, RequestedCall};

use crate::history::{AnsweredCall, Picture, VendorTurn, arguments, tools, turns};

// The placeholder that the vendor accepts as the signature of another model's call.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";
// Later models require a signature on the first call of a turn.
const MODELS_WITHOUT_SIGNATURES: [&str; 3] = ["gemini-1", "gemini-2", "gemma"];

pub(super) fn body(request: &ModelRequest, about: &ModelInfo) -> Value {
    let mut body = json!({ "contents": contents(request, about) });
    if let Some(members) = body.as_object_mut() {
        if !request.system.trim().is_empty() {
            let system = json!({ "parts": [{ "text": request.system }] });
            members.insert("systemInstruction".to_owned(), system);
        }
        if let Some(tools) = tools(&request.tools) {
            members.insert("tools".to_owned(), json!(tools));
            let mode = match request.options.tool_choice {
                ModelToolChoice::Auto => None,
                ModelToolChoice::Required => Some("ANY"),
                ModelToolChoice::None => Some("NONE"),
            };
            if let Some(mode) = mode {
                let config = json!({ "functionCallingConfig": { "mode": mode } });
                members.insert("toolConfig".to_owned(), config);
            }
        }
        let wishes = generation(request);
        if !wishes.is_empty() {
            members.insert("generationConfig".to_owned(), Value::Object(wishes));
        }
    }
    body
}

fn generation(request: &ModelRequest) -> serde_json::Map<String, Value> {
    let wishes = &request.options;
    let stop = (!wishes.stop.is_empty()).then(|| json!(wishes.stop));
    let members = [
        ("maxOutputTokens", wishes.max_tokens.map(|most| json!(most))),
        ("temperature", wishes.temperature.map(|daring| json!(daring))),
        ("stopSequences", stop),
    ];
    members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// Builds contents with alternating roles, which the vendor requires.
fn contents(request: &ModelRequest, about: &ModelInfo) -> Vec<Value> {
    let mut contents: Vec<(&'static str, Vec<Value>)> = Vec::new();
    let mut vendor_ids = BTreeSet::new();
    for turn in turns(&request.messages, about) {
        let (role, parts) = match turn {
            VendorTurn::User { text, images } => ("user", text_and_images(&text, &images)),
            VendorTurn::Assistant { text, calls, kept } => {
                let kept = kept.and_then(Value::as_array);
                vendor_ids = kept.map(|kept| ids(kept)).unwrap_or_default();
                ("model", kept.map_or_else(|| model_parts(text, calls, &about.model), Clone::clone))
            }
            VendorTurn::Results(results) => ("user", result_parts(&results, &vendor_ids)),
        };
        match contents.last_mut() {
            Some((last, earlier)) if *last == role => earlier.extend(parts),
            _ => contents.push((role, parts)),
        }
    }
    let content = |(role, parts)| json!({ "role": role, "parts": Value::Array(parts) });
    contents.into_iter().map(content).collect()
}

fn ids(parts: &[Value]) -> BTreeSet<String> {
    let id = |part: &Value| part.pointer("/functionCall/id")?.as_str().map(str::to_owned);
    parts.iter().filter_map(id).collect()
}

fn model_parts(text: &str, calls: &[RequestedCall], model: &str) -> Vec<Value> {
    let mut parts: Vec<Value> = text_part(text).into_iter().collect();
    for (place, call) in calls.iter().enumerate() {
        let mut part = json!({ "functionCall": { "name": call.name, "args": arguments(call) } });
        let wants_signature =
            place == 0 && !MODELS_WITHOUT_SIGNATURES.iter().any(|old| model.contains(old));
        if wants_signature && let Some(members) = part.as_object_mut() {
            members.insert("thoughtSignature".to_owned(), json!(NO_SIGNATURE));
        }
        parts.push(part);
    }
    parts
}

fn result_parts(results: &[AnsweredCall<'_>], vendor_ids: &BTreeSet<String>) -> Vec<Value> {
    // Images come last: the vendor compares the number of responses with the number of calls.
    let mut parts: Vec<Value> = results.iter().map(|it| response(it, vendor_ids)).collect();
    for result in results.iter().filter(|result| !result.images.is_empty()) {
        parts.push(json!({ "text": format!("From the result of `{}`:", result.name) }));
        parts.extend(result.images.iter().map(picture));
    }
    parts
}

fn response(result: &AnsweredCall<'_>, vendor_ids: &BTreeSet<String>) -> Value {
    let member = if result.failed { "error" } else { "output" };
    let mut response = json!({ "name": result.name, "response": { member: result.text } });
    // An id that the vendor did not assign would match none of its calls.
    if vendor_ids.contains(result.id)
        && let Some(members) = response.as_object_mut()
    {
        members.insert("id".to_owned(), json!(result.id));
    }
    json!({ "functionResponse": response })
}

fn text_and_images(text: &str, images: &[Picture<'_>]) -> Vec<Value> {
    text_part(text).into_iter().chain(images.iter().map(picture)).collect()
}

fn text_part(text: &str) -> Option<Value> {
    (!text.is_empty()).then(|| json!({ "text": text }))
}

fn picture(image: &Picture<'_>) -> Value {
    json!({ "inlineData": { "mimeType": image.mime, "data": image.data } })
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
