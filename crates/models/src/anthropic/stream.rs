//! Parses the event stream of an Anthropic message.

use serde_json::{Map, Value, json};
use switchboard_prompting::{Assembler, ModelAnswer, ModelDelta, StopReason, TokenUsage};
use switchboard_wire::SseEvent;

use crate::protocol::{AnswerReader, BrokenAnswer, VendorRefusal};

#[derive(Debug, Default)]
pub(super) struct AnthropicStream {
    blocks: Vec<ContentBlock>,
    calls: Assembler,
    counts: TokenCounts,
    stop: Option<String>,
    over: bool,
}

#[derive(Debug)]
struct ContentBlock {
    index: u64,
    /// The block to send back, still without the arguments of a call.
    value: Map<String, Value>,
    /// Whether the arguments of a call came with the start of the block.
    came_whole: bool,
}

#[derive(Debug, Default)]
struct TokenCounts {
    input: u64,
    written_to_cache: u64,
    cached: u64,
    output: u64,
}

impl AnswerReader for AnthropicStream {
    fn push(&mut self, event: &SseEvent) -> Result<Vec<ModelDelta>, BrokenAnswer> {
        let data = event.data.trim_ascii();
        if data.is_empty() {
            return Ok(Vec::new());
        }
        let value: Value = serde_json::from_slice(data)
            .map_err(|error| BrokenAnswer::Malformed(format!("an event is not JSON: {error}")))?;
        let kind = value.get("type").and_then(Value::as_str).unwrap_or(&event.name);
        let told = match kind {
            "message_start" => {
                self.count(value.pointer("/message/usage"));
                None
            }
            "content_block_start" => self.begin(&value),
            "content_block_delta" => self.continue_block(&value),
            "message_delta" => {
                let reason = value.pointer("/delta/stop_reason").and_then(Value::as_str);
                self.stop = reason.map(str::to_owned).or_else(|| self.stop.take());
                self.count(value.get("usage"));
                None
            }
            "message_stop" => {
                self.over = true;
                None
            }
            "error" => {
                let refusal = VendorRefusal::from_value(&value).unwrap_or_default();
                return Err(BrokenAnswer::Refused(refusal));
            }
            // The vendor reserves the right to add event types.
            _ => None,
        };
        Ok(told.into_iter().collect())
    }

    fn is_over(&self) -> bool {
        self.over
    }

    fn finish(self: Box<Self>) -> Result<ModelAnswer, BrokenAnswer> {
        let calls = self.calls.finish();
        let stop = match self.stop.as_deref() {
            Some("end_turn" | "stop_sequence") => StopReason::End,
            Some("tool_use") => StopReason::Calls,
            Some("max_tokens" | "model_context_window_exceeded") => StopReason::Length,
            Some("refusal") => StopReason::Refused,
            Some(other) => StopReason::Other(other.to_owned()),
            None if self.over && calls.is_empty() => StopReason::End,
            None if self.over => StopReason::Calls,
            None => return Err(BrokenAnswer::Cut),
        };
        // Arguments that are not valid are replaced: the vendor would reject the next request.
        let mut inputs = calls.iter().map(|call| {
            let text = call.arguments.as_ref().map_or("{}", |arguments| &arguments.text);
            serde_json::from_str(text).unwrap_or_else(|_| json!({}))
        });
        let mut text = String::new();
        let mut content = Vec::new();
        let mut has_more = false;
        for ContentBlock { mut value, .. } in self.blocks {
            match kind(&value) {
                "text" => {
                    let words = word(&value, "text");
                    text.push_str(words);
                    // The vendor sends blank blocks, but rejects them in a request.
                    if words.trim().is_empty() {
                        continue;
                    }
                }
                "tool_use" => {
                    value.insert("input".to_owned(), inputs.next().unwrap_or_default());
                }
                // Thinking has a signature that the vendor verifies when it gets the block back.
                _ => has_more = true,
            }
            content.push(Value::Object(value));
        }
        let kept = has_more.then_some(Value::Array(content));
        Ok(ModelAnswer { text, calls, stop, usage: self.counts.usage(), vendor_message: kept })
    }
}

impl AnthropicStream {
    fn begin(&mut self, event: &Value) -> Option<ModelDelta> {
        let index = event.get("index").and_then(Value::as_u64).unwrap_or_default();
        let value = event.get("content_block")?.as_object()?.clone();
        let delta = match kind(&value) {
            "text" => text(word(&value, "text")),
            "thinking" => thinking(word(&value, "thinking")),
            "tool_use" => {
                let name = word(&value, "name");
                self.calls.delta(self.blocks.len(), Some(word(&value, "id")), Some(name), "");
                Some(ModelDelta::Call { name: name.to_owned() })
            }
            _ => None,
        };
        let whole = value.get("input").and_then(Value::as_object).filter(|input| !input.is_empty());
        let came_whole = whole.is_some() && kind(&value) == "tool_use";
        if let Some(whole) = whole.filter(|_| came_whole) {
            self.calls.delta(self.blocks.len(), None, None, &json!(whole).to_string());
        }
        self.blocks.push(ContentBlock { index, value, came_whole });
        delta
    }

    fn continue_block(&mut self, event: &Value) -> Option<ModelDelta> {
        let index = event.get("index").and_then(Value::as_u64).unwrap_or_default();
        let delta = event.get("delta")?;
        let place = self.blocks.iter().rposition(|block| block.index == index)?;
        let block = self.blocks.get_mut(place)?;
        let fragment = |name: &str| delta.get(name).and_then(Value::as_str).unwrap_or_default();
        match delta.get("type").and_then(Value::as_str)? {
            "text_delta" => text(append(&mut block.value, "text", fragment("text"))),
            "thinking_delta" => {
                thinking(append(&mut block.value, "thinking", fragment("thinking")))
            }
            "signature_delta" => {
                append(&mut block.value, "signature", fragment("signature"));
                None
            }
            "input_json_delta" if kind(&block.value) == "tool_use" => {
                // The arguments are complete already; a delta would repeat them.
                if !block.came_whole {
                    self.calls.delta(place, None, None, fragment("partial_json"));
                }
                None
            }
            _ => None,
        }
    }

    fn count(&mut self, usage: Option<&Value>) {
        // Later counts replace earlier ones, because they cover the whole answer.
        let count = |name: &str, target: &mut u64| {
            if let Some(number) = usage.and_then(|usage| usage.get(name)?.as_u64()) {
                *target = number;
            }
        };
        count("input_tokens", &mut self.counts.input);
        count("cache_creation_input_tokens", &mut self.counts.written_to_cache);
        count("cache_read_input_tokens", &mut self.counts.cached);
        count("output_tokens", &mut self.counts.output);
    }
}

impl TokenCounts {
    fn usage(&self) -> TokenUsage {
        // The vendor counts cached input separately; `TokenUsage` includes it.
        let input = self.input.saturating_add(self.written_to_cache).saturating_add(self.cached);
        TokenUsage { input, output: self.output, cached: self.cached }
    }
}

fn kind(block: &Map<String, Value>) -> &str {
    word(block, "type")
}

fn word<'a>(block: &'a Map<String, Value>, name: &str) -> &'a str {
    block.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Appends a fragment to a member of a block, and returns the fragment.
fn append<'a>(block: &mut Map<String, Value>, name: &str, fragment: &'a str) -> &'a str {
    match block.get_mut(name) {
        Some(Value::String(text)) => text.push_str(fragment),
        _ => {
            block.insert(name.to_owned(), json!(fragment));
        }
    }
    fragment
}

fn text(words: &str) -> Option<ModelDelta> {
    (!words.is_empty()).then(|| ModelDelta::Text(words.to_owned()))
}

fn thinking(words: &str) -> Option<ModelDelta> {
    (!words.is_empty()).then(|| ModelDelta::Thinking(words.to_owned()))
}

#[cfg(test)]
#[path = "stream_tests.rs"]
mod tests;
