//! What Anthropic sends: the events of a message, the whole of one, and models.

use serde_json::{Value, json};

use super::check::{check, messages};
use crate::model::script::{FixtureStop, FixtureTurn};
use crate::model::signature;
use crate::model::vendor::{
    GenerateRequest, GenerateTarget, Vendor, VendorEvent, VendorProblem, VendorProblemKind,
};
use crate::model::wire::{fragments, pieces};

/// A content block and the deltas it arrives in.
struct AnswerBlock {
    whole: Value,
    start: Value,
    deltas: Vec<Value>,
}

pub(crate) const VENDOR: Vendor = Vendor {
    name: "anthropic",
    base_path: "",
    models_path: "/v1",
    required_header: Some("anthropic-version"),
    key: |asked| asked.header("x-api-key"),
    target: |asked| (asked.path == "/v1/messages").then_some(GenerateTarget::InBody),
    check,
    messages,
    events,
    whole,
    models,
    model,
    no_such_model: |id| format!("model: {id}"),
    refusal,
    failure_status: 529,
    error_event: Some("error"),
    event_end: "\n\n",
    event_stream_type: "text/event-stream; charset=utf-8",
    request_id: ("request-id", "req_scripted"),
};

fn events(generate: &GenerateRequest, answer: &FixtureTurn) -> Vec<VendorEvent> {
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
    let delta = json!({"stop_reason": stop_reason(answer.stop()), "stop_sequence": null});
    let usage = usage(generate, answer);
    events.push(event("message_delta", json!({"delta": delta, "usage": usage})));
    events.push(event("message_stop", json!({})));
    events
}

fn event(name: &'static str, mut data: Value) -> VendorEvent {
    data["type"] = json!(name);
    VendorEvent { name: Some(name), data: data.to_string() }
}

fn whole(generate: &GenerateRequest, answer: &FixtureTurn) -> Value {
    let mut whole = message(generate, answer);
    whole["content"] = blocks(answer).into_iter().map(|block| block.whole).collect();
    whole["stop_reason"] = json!(stop_reason(answer.stop()));
    whole
}

fn message(generate: &GenerateRequest, answer: &FixtureTurn) -> Value {
    json!({
        "id": format!("msg_01scripted{:03}", answer.turn + 1), "type": "message",
        "role": "assistant", "model": generate.model, "content": [], "stop_reason": null,
        "stop_sequence": null, "usage": usage(generate, answer),
    })
}

fn blocks(answer: &FixtureTurn) -> Vec<AnswerBlock> {
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
fn usage(generate: &GenerateRequest, answer: &FixtureTurn) -> Value {
    let usage = generate.usage(answer);
    json!({
        "input_tokens": usage.input.saturating_sub(usage.cached),
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": usage.cached,
        "output_tokens": usage.output,
    })
}

fn models(models: Vec<Value>) -> Value {
    let end = |model: Option<&Value>| model.map(|model| model["id"].clone());
    let first = end(models.first());
    let last = end(models.last());
    json!({"data": models, "has_more": false, "first_id": first, "last_id": last})
}

fn model(id: &str) -> Value {
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

fn refusal(problem: &VendorProblem) -> (u16, Value) {
    let status = match problem.kind {
        VendorProblemKind::Request => 400,
        VendorProblemKind::NoKey | VendorProblemKind::WrongKey => 401,
        VendorProblemKind::Model | VendorProblemKind::Route => 404,
        VendorProblemKind::Scripted(status, _) => status,
    };
    let of_type = match status {
        401 => "authentication_error",
        402 => "billing_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        504 => "timeout_error",
        529 => "overloaded_error",
        500.. => "api_error",
        _ => "invalid_request_error",
    };
    let error = json!({"type": of_type, "message": problem.message});
    (status, json!({"type": "error", "error": error, "request_id": "req_scripted"}))
}
