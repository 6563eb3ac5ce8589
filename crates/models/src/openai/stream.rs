//! Parses the event stream of a chat completion.

use serde_json::Value;
use switchboard_prompting::{
    Assembler, ModelAnswer, ModelDelta, NativeCall, StopReason, TokenUsage,
};
use switchboard_wire::SseEvent;

use super::content::content;
use super::reasoning::ReasoningTrace;
use super::request::{assistant, tool_call};
use crate::protocol::{AnswerReader, BrokenAnswer, VendorRefusal};

#[derive(Debug, Default)]
pub(super) struct OpenAiStream {
    text: String,
    calls: Assembler,
    begun: Vec<PartialToolCall>,
    reasoning: ReasoningTrace,
    refused: bool,
    stop: Option<String>,
    usage: TokenUsage,
    done: bool,
}

#[derive(Debug)]
struct PartialToolCall {
    index: usize,
    id: Option<String>,
}

impl AnswerReader for OpenAiStream {
    fn push(&mut self, event: &SseEvent) -> Result<Vec<ModelDelta>, BrokenAnswer> {
        let data = event.data.trim_ascii();
        if data == b"[DONE]" {
            self.done = true;
            return Ok(Vec::new());
        }
        if data.is_empty() {
            return Ok(Vec::new());
        }
        let chunk: Value = serde_json::from_slice(data)
            .map_err(|error| BrokenAnswer::Malformed(format!("an event is not JSON: {error}")))?;
        let failed = chunk.get("error").is_some_and(|error| !error.is_null());
        if failed || event.name == "error" {
            let refusal = VendorRefusal::from_value(&chunk).unwrap_or_else(|| VendorRefusal {
                message: chunk.to_string(),
                ..VendorRefusal::default()
            });
            return Err(BrokenAnswer::Refused(refusal));
        }
        self.count(&chunk);
        let mut deltas = Vec::new();
        if let Some(choice) = chunk.get("choices").and_then(|choices| choices.get(0)) {
            // Some servers send a complete message instead of a delta.
            let delta = choice.get("delta").or_else(|| choice.get("message"));
            self.take(delta.unwrap_or(&Value::Null), &mut deltas);
            if let Some(reason) = choice.get("finish_reason").and_then(Value::as_str) {
                self.stop = Some(reason.to_owned());
            }
        }
        Ok(deltas)
    }

    fn is_over(&self) -> bool {
        self.done
    }

    fn finish(self: Box<Self>) -> Result<ModelAnswer, BrokenAnswer> {
        let calls = self.calls.finish();
        // Some servers send `[DONE]` without a finish reason. An empty answer is then a failure.
        let said_something = !self.text.is_empty() || !calls.is_empty();
        if self.stop.is_none() && !(self.done && said_something) {
            return Err(BrokenAnswer::Cut);
        }
        let stop = match self.stop.as_deref() {
            _ if self.refused => StopReason::Refused,
            Some("length") => StopReason::Length,
            Some("content_filter") => StopReason::Refused,
            // Some servers report `stop` for calls, and others the reverse.
            Some("stop" | "tool_calls" | "function_call" | "eos" | "") | None => {
                if calls.is_empty() { StopReason::End } else { StopReason::Calls }
            }
            Some(other) => StopReason::Other(other.to_owned()),
        };
        let entry = |call: &NativeCall| {
            let arguments = call.arguments.as_ref().map_or("{}", |arguments| &arguments.text);
            tool_call(call.id.as_deref(), &call.name, arguments)
        };
        let mut message = assistant(&self.text, calls.iter().map(entry).collect());
        let kept = self.reasoning.add_to(&mut message).then_some(message);
        Ok(ModelAnswer { text: self.text, calls, stop, usage: self.usage, vendor_message: kept })
    }
}

impl OpenAiStream {
    fn take(&mut self, delta: &Value, deltas: &mut Vec<ModelDelta>) {
        let said = content(delta.get("content"));
        let thinking = self.reasoning.take(delta) + &said.thinking;
        if !thinking.is_empty() {
            deltas.push(ModelDelta::Thinking(thinking));
        }
        let refusal = delta.get("refusal").and_then(Value::as_str).unwrap_or_default();
        self.refused |= !refusal.is_empty();
        for text in [said.text.as_str(), refusal] {
            if !text.is_empty() {
                self.text.push_str(text);
                deltas.push(ModelDelta::Text(text.to_owned()));
            }
        }
        for call in delta.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            deltas.extend(self.take_call(call));
        }
    }

    /// Collects a fragment of a call, and announces the call if it starts here.
    fn take_call(&mut self, call: &Value) -> Option<ModelDelta> {
        let function = call.get("function");
        let word = |name: &str| function.and_then(|function| function.get(name)?.as_str());
        let id = call.get("id").and_then(Value::as_str).filter(|id| !id.is_empty());
        let name = word("name").filter(|name| !name.is_empty());
        let given = call.get("index").and_then(Value::as_u64);
        let index = match given.and_then(|index| usize::try_from(index).ok()) {
            Some(index) => index,
            // Without an index, a name starts a call and anything else continues the newest one.
            None if name.is_some() => {
                self.begun.iter().map(|it| it.index.saturating_add(1)).max().unwrap_or(0)
            }
            None => self.begun.last().map_or(0, |begun| begun.index),
        };
        let arguments = match function.and_then(|function| function.get("arguments")) {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Null) | None => String::new(),
            Some(other) => other.to_string(),
        };
        self.calls.delta(index, id, name, &arguments);
        let known = self.begun.iter_mut().rev().find(|begun| begun.index == index);
        let known =
            known.filter(|begun| id.is_none() || begun.id.is_none() || begun.id.as_deref() == id);
        if let Some(begun) = known {
            begun.id = begun.id.take().or_else(|| id.map(str::to_owned));
            return None;
        }
        let name = name?.to_owned();
        self.begun.push(PartialToolCall { index, id: id.map(str::to_owned) });
        Some(ModelDelta::Call { name })
    }

    fn count(&mut self, chunk: &Value) {
        let Some(usage) = chunk.get("usage").filter(|usage| usage.is_object()) else { return };
        let count = |place: &str| usage.pointer(place).and_then(Value::as_u64);
        self.usage = TokenUsage {
            input: count("/prompt_tokens").unwrap_or_default(),
            output: count("/completion_tokens").unwrap_or_default(),
            // DeepSeek has its own name for it.
            cached: count("/prompt_tokens_details/cached_tokens")
                .or_else(|| count("/prompt_cache_hit_tokens"))
                .unwrap_or_default(),
        };
    }
}

#[cfg(test)]
#[path = "stream_tests.rs"]
mod tests;
