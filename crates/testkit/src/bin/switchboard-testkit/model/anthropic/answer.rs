//! What Anthropic sends: the events of a message, the whole of one, and models.

use serde_json::{Value, json};

use crate::model::pieces::{fragments, pieces};
use crate::model::request::GenerateRequest;
use crate::model::script::FixtureStop;
use crate::model::signature;
use crate::model::turns::FilledTurn;
use crate::model::wire::VendorEvent;

const MODELS: &[&str] = &["scripted-large", "scripted-small"];

/// A content block and the deltas it arrives in.
struct AnswerBlock {
    whole: Value,
    start: Value,
    deltas: Vec<Value>,
}

pub(crate) fn events(generate: &GenerateRequest, answer: &FilledTurn) -> Vec<VendorEvent> {
    let mut message = message(generate, answer);
    message["usage"]["output_tokens"] = json!(1);
    let mut events = vec![event("message_start", json!({ "message": message }))];
    for (index, block) in blocks(answer).into_iter().enumerate() {
        let start = json!({"index": index, "content_block": block.start});
        events.push(event("content_block_start", start));
        if index == 0 {
            events.push(event("ping", json!({})));
        }
        for (count, delta) in block.deltas.into_iter().enumerate() {
            if count > 0 && count % 8 == 0 {
                events.push(event("ping", json!({})));
            }
            let delta = json!({"index": index, "delta": delta});
            events.push(event("content_block_delta", delta));
        }
        events.push(event("content_block_stop", json!({ "index": index })));
    }
    let delta = json!({"stop_reason": stop_reason(answer.stop), "stop_sequence": null});
    let usage = usage(generate, answer);
    events.push(event("message_delta", json!({"delta": delta, "usage": usage})));
    events.push(event("message_stop", json!({})));
    events
}

fn event(name: &'static str, mut data: Value) -> VendorEvent {
    data["type"] = json!(name);
    VendorEvent { name: Some(name), data: data.to_string() }
}

pub(crate) fn whole(generate: &GenerateRequest, answer: &FilledTurn) -> Value {
    let mut whole = message(generate, answer);
    whole["content"] = blocks(answer).into_iter().map(|block| block.whole).collect();
    whole["stop_reason"] = json!(stop_reason(answer.stop));
    whole
}

fn message(generate: &GenerateRequest, answer: &FilledTurn) -> Value {
    json!({
        "id": format!("msg_01scripted{:03}", answer.turn + 1), "type": "message",
        "role": "assistant", "model": generate.model, "content": [], "stop_reason": null,
        "stop_sequence": null, "usage": usage(generate, answer),
    })
}

fn blocks(answer: &FilledTurn) -> Vec<AnswerBlock> {
    let mut blocks = Vec::new();
    if let Some(thinking) = &answer.thinking {
        let signature = signature::thinking_signature(thinking);
        let mut deltas: Vec<Value> = pieces(thinking, answer.chunk)
            .into_iter()
            .map(|piece| json!({"type": "thinking_delta", "thinking": piece}))
            .collect();
        deltas.push(json!({"type": "signature_delta", "signature": signature}));
        let whole = json!({"type": "thinking", "thinking": thinking, "signature": signature});
        let start = json!({"type": "thinking", "thinking": "", "signature": ""});
        blocks.push(AnswerBlock { whole, start, deltas });
    }
    if let Some(text) = &answer.text {
        let pieces = pieces(text, answer.chunk).into_iter();
        blocks.push(AnswerBlock {
            whole: json!({"type": "text", "text": text}),
            start: json!({"type": "text", "text": ""}),
            deltas: pieces.map(|piece| json!({"type": "text_delta", "text": piece})).collect(),
        });
    }
    for (index, call) in answer.calls.iter().enumerate() {
        let id = format!("toolu_01{:03}{index:03}scriptedTurn", answer.turn + 1);
        let block =
            |input: Value| json!({"type": "tool_use", "id": id, "name": call.name, "input": input});
        let is_empty = call.arguments.as_object().is_some_and(serde_json::Map::is_empty);
        // The first fragment is empty, and the only one where there are no arguments.
        let mut fragments_of_input = vec![String::new()];
        if !is_empty {
            fragments_of_input.extend(fragments(&call.arguments.to_string(), answer.chunk));
        }
        let deltas = fragments_of_input
            .into_iter()
            .map(|piece| json!({"type": "input_json_delta", "partial_json": piece}));
        blocks.push(AnswerBlock {
            whole: block(call.arguments.clone()),
            start: block(json!({})),
            deltas: deltas.collect(),
        });
    }
    blocks
}

fn stop_reason(stop: FixtureStop) -> &'static str {
    match stop {
        FixtureStop::End => "end_turn",
        FixtureStop::Calls => "tool_use",
        FixtureStop::Length => "max_tokens",
        FixtureStop::Refused => "refusal",
    }
}

/// What came from a cache is not part of Anthropic's input tokens.
fn usage(generate: &GenerateRequest, answer: &FilledTurn) -> Value {
    let usage = generate.usage(answer);
    json!({
        "input_tokens": usage.input.saturating_sub(usage.cached),
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": usage.cached,
        "output_tokens": usage.output,
    })
}

pub(crate) fn models() -> Value {
    let models: Vec<Value> = MODELS.iter().map(|id| model(id)).collect();
    json!({
        "data": models, "has_more": false, "first_id": MODELS.first(), "last_id": MODELS.last(),
    })
}

pub(crate) fn model(id: &str) -> Value {
    json!({
        "type": "model", "id": id, "display_name": format!("The model {id}"),
        "created_at": "2026-01-01T00:00:00Z", "max_input_tokens": 200_000, "max_tokens": 64_000,
        "capabilities": {
            "image_input": {"supported": true}, "structured_outputs": {"supported": true},
            "thinking": {"supported": true, "types": {
                "adaptive": {"supported": true}, "enabled": {"supported": true},
            }},
        },
    })
}
