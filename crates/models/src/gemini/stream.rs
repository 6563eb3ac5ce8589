//! Parses the event stream of a Gemini answer.

use serde_json::{Map, Value, json};
use switchboard_prompting::{Assembler, ModelAnswer, ModelDelta, StopReason, TokenUsage};
use switchboard_wire::SseEvent;

use crate::protocol::{AnswerReader, BrokenAnswer, VendorRefusal};

// Finish reasons that mean a refusal.
const REFUSAL_REASONS: [&str; 8] = [
    "SAFETY",
    "RECITATION",
    "LANGUAGE",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "SPII",
    "IMAGE_SAFETY",
    "IMAGE_PROHIBITED_CONTENT",
];

#[derive(Debug, Default)]
pub(super) struct GeminiStream {
    text: String,
    parts: Vec<Map<String, Value>>,
    calls: Assembler,
    call_count: usize,
    stop: Option<String>,
    blocked: bool,
    usage: TokenUsage,
}

impl AnswerReader for GeminiStream {
    fn push(&mut self, event: &SseEvent) -> Result<Vec<ModelDelta>, BrokenAnswer> {
        let data = event.data.trim_ascii();
        if data.is_empty() || data == b"[DONE]" {
            return Ok(Vec::new());
        }
        let chunk: Value = serde_json::from_slice(data)
            .map_err(|error| BrokenAnswer::Malformed(format!("an event is not JSON: {error}")))?;
        if chunk.get("error").is_some_and(|error| !error.is_null()) {
            let refusal = VendorRefusal::from_value(&chunk).unwrap_or_default();
            return Err(BrokenAnswer::Refused(refusal));
        }
        self.count(&chunk);
        self.blocked |= chunk.pointer("/promptFeedback/blockReason").is_some_and(Value::is_string);
        let mut deltas = Vec::new();
        let Some(candidate) = chunk.get("candidates").and_then(|candidates| candidates.get(0))
        else {
            return Ok(deltas);
        };
        let parts = candidate.pointer("/content/parts").and_then(Value::as_array);
        for part in parts.into_iter().flatten().filter_map(Value::as_object) {
            deltas.extend(self.take(part));
        }
        if let Some(reason) = candidate.get("finishReason").and_then(Value::as_str) {
            self.stop = Some(reason.to_owned());
        }
        Ok(deltas)
    }

    // The vendor ends the stream without a marker.
    fn is_over(&self) -> bool {
        false
    }

    fn finish(self: Box<Self>) -> Result<ModelAnswer, BrokenAnswer> {
        let calls = self.calls.finish();
        let stop = match self.stop.as_deref() {
            _ if self.blocked => StopReason::Refused,
            Some("STOP") if calls.is_empty() => StopReason::End,
            Some("STOP") => StopReason::Calls,
            Some("MAX_TOKENS") => StopReason::Length,
            Some(reason) if REFUSAL_REASONS.contains(&reason) => StopReason::Refused,
            Some(other) => StopReason::Other(other.to_owned()),
            None => return Err(BrokenAnswer::Cut),
        };
        // Thoughts without a signature are summaries for people and must not be sent back.
        let is_wanted = |part: &Map<String, Value>| {
            is_signed(part) || !is_thought(part) && part.get("text") != Some(&json!(""))
        };
        let parts: Vec<_> = self.parts.into_iter().filter(is_wanted).collect();
        let kept = parts.iter().any(has_more).then(|| json!(parts));
        Ok(ModelAnswer { text: self.text, calls, stop, usage: self.usage, vendor_message: kept })
    }
}

impl GeminiStream {
    fn take(&mut self, part: &Map<String, Value>) -> Option<ModelDelta> {
        self.keep(part);
        if let Some(call) = part.get("functionCall") {
            let word = |name: &str| call.get(name).and_then(Value::as_str);
            let arguments = match call.get("args") {
                None | Some(Value::Null) => String::new(),
                Some(arguments) => arguments.to_string(),
            };
            self.calls.delta(self.call_count, word("id"), word("name"), &arguments);
            self.call_count += 1;
            return word("name").map(|name| ModelDelta::Call { name: name.to_owned() });
        }
        let text = part.get("text").and_then(Value::as_str).filter(|text| !text.is_empty())?;
        if is_thought(part) {
            return Some(ModelDelta::Thinking(text.to_owned()));
        }
        self.text.push_str(text);
        Some(ModelDelta::Text(text.to_owned()))
    }

    /// Stores a part for the next request.
    fn keep(&mut self, part: &Map<String, Value>) {
        // Plain texts are merged. A signature belongs to one part, which stays as it is.
        let is_plain = |part: &Map<String, Value>| {
            part.get("text").is_some_and(Value::is_string) && !has_more(part)
        };
        let newest = self.parts.last_mut().filter(|newest| is_plain(newest) && is_plain(part));
        match (newest.and_then(|newest| newest.get_mut("text")), part.get("text")) {
            (Some(Value::String(before)), Some(Value::String(text))) => before.push_str(text),
            _ => self.parts.push(part.clone()),
        }
    }

    fn count(&mut self, chunk: &Value) {
        let Some(usage) = chunk.get("usageMetadata") else { return };
        // The counts of each chunk cover the whole answer so far.
        let count = |name: &str| usage.get(name).and_then(Value::as_u64).unwrap_or_default();
        self.usage = TokenUsage {
            input: count("promptTokenCount").saturating_add(count("toolUsePromptTokenCount")),
            output: count("candidatesTokenCount").saturating_add(count("thoughtsTokenCount")),
            cached: count("cachedContentTokenCount"),
        };
    }
}

fn is_thought(part: &Map<String, Value>) -> bool {
    part.get("thought").and_then(Value::as_bool).unwrap_or(false)
}

fn is_signed(part: &Map<String, Value>) -> bool {
    part.contains_key("thoughtSignature")
}

/// Returns whether a part has more than text or a call.
fn has_more(part: &Map<String, Value>) -> bool {
    part.keys().any(|name| !matches!(name.as_str(), "text" | "functionCall"))
}

#[cfg(test)]
#[path = "stream_tests.rs"]
mod tests;
