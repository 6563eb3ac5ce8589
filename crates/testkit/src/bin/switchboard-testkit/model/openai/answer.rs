//! What OpenAI sends: chunks of a chat completion, the whole of one, and models.

use serde_json::{Value, json};

use crate::model::pieces::{fragments, pieces};
use crate::model::request::GenerateRequest;
use crate::model::script::{FixtureCall, FixtureStop};
use crate::model::turns::FilledTurn;
use crate::model::wire::VendorEvent;

const CREATED: u64 = 1_754_000_000;
const MODELS: &[&str] = &["scripted-large", "scripted-small"];

pub(crate) fn events(generate: &GenerateRequest, answer: &FilledTurn) -> Vec<VendorEvent> {
    let with_usage = generate.body["stream_options"]["include_usage"] == Value::Bool(true);
    let chunk = |choices: Value| {
        let mut chunk = envelope(generate, answer, "chat.completion.chunk");
        chunk["choices"] = choices;
        if with_usage {
            chunk["usage"] = Value::Null;
        }
        chunk
    };
    let choice = |delta: Value, finish: Option<&str>| {
        chunk(json!([{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}]))
    };
    let mut chunks: Vec<Value> =
        deltas(answer).into_iter().map(|delta| choice(delta, None)).collect();
    chunks.push(choice(json!({}), Some(finish_reason(answer.stop))));
    if with_usage {
        let mut last = chunk(json!([]));
        last["usage"] = usage(generate, answer);
        chunks.push(last);
    }
    let data = chunks.into_iter().map(|chunk| chunk.to_string());
    data.chain(["[DONE]".to_owned()]).map(|data| VendorEvent { name: None, data }).collect()
}

fn deltas(answer: &FilledTurn) -> Vec<Value> {
    let opening = if answer.text.is_none() && !answer.calls.is_empty() { None } else { Some("") };
    let mut deltas = vec![json!({"role": "assistant", "content": opening, "refusal": null})];
    for piece in answer.thinking.iter().flat_map(|text| pieces(text, answer.chunk)) {
        // OpenAI itself keeps thoughts; this is how those who speak like it send them.
        deltas.push(json!({ "reasoning_content": piece }));
    }
    for piece in answer.text.iter().flat_map(|text| pieces(text, answer.chunk)) {
        deltas.push(json!({ "content": piece }));
    }
    for (index, call) in answer.calls.iter().enumerate() {
        let mut start = call_value(answer, index, call, String::new());
        start["index"] = json!(index);
        // A lone call begins in the very first delta, several do not.
        let first = deltas
            .first_mut()
            .filter(|first| answer.calls.len() == 1 && first["content"].is_null());
        match first {
            Some(first) if answer.thinking.is_none() => first["tool_calls"] = json!([start]),
            _ => deltas.push(json!({"tool_calls": [start]})),
        }
        for piece in fragments(&call.arguments.to_string(), answer.chunk) {
            let more = json!({"index": index, "function": {"arguments": piece}});
            deltas.push(json!({"tool_calls": [more]}));
        }
    }
    deltas
}

pub(crate) fn whole(generate: &GenerateRequest, answer: &FilledTurn) -> Value {
    let mut message = json!({
        "role": "assistant", "content": answer.text, "refusal": null, "annotations": [],
    });
    if let Some(thinking) = &answer.thinking {
        message["reasoning_content"] = json!(thinking);
    }
    if !answer.calls.is_empty() {
        let calls = answer.calls.iter().enumerate();
        let calls =
            calls.map(|(index, call)| call_value(answer, index, call, call.arguments.to_string()));
        message["tool_calls"] = calls.collect();
    }
    let mut whole = envelope(generate, answer, "chat.completion");
    whole["choices"] = json!([{
        "index": 0, "message": message, "logprobs": null,
        "finish_reason": finish_reason(answer.stop),
    }]);
    whole["usage"] = usage(generate, answer);
    whole
}

fn call_value(answer: &FilledTurn, index: usize, call: &FixtureCall, arguments: String) -> Value {
    let id = format!("call_{:03}{index:03}scriptedModelTurn", answer.turn + 1);
    let function = json!({"name": call.name, "arguments": arguments});
    json!({"id": id, "type": "function", "function": function})
}

fn envelope(generate: &GenerateRequest, answer: &FilledTurn, object: &str) -> Value {
    json!({
        "id": format!("chatcmpl-scripted{:03}", answer.turn + 1), "object": object,
        "created": CREATED, "model": generate.model, "service_tier": "default",
        "system_fingerprint": "fp_scripted",
    })
}

fn finish_reason(stop: FixtureStop) -> &'static str {
    match stop {
        FixtureStop::End => "stop",
        FixtureStop::Calls => "tool_calls",
        FixtureStop::Length => "length",
        FixtureStop::Refused => "content_filter",
    }
}

fn usage(generate: &GenerateRequest, answer: &FilledTurn) -> Value {
    let usage = generate.usage(answer);
    let reasoning = if answer.thinking.is_some() { usage.output / 2 } else { 0 };
    json!({
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cached, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": reasoning, "audio_tokens": 0,
            "accepted_prediction_tokens": 0, "rejected_prediction_tokens": 0,
        },
    })
}

pub(crate) fn models() -> Value {
    let models: Vec<Value> = MODELS.iter().map(|id| model(id)).collect();
    json!({"object": "list", "data": models})
}

pub(crate) fn model(id: &str) -> Value {
    json!({"id": id, "object": "model", "created": CREATED, "owned_by": "system"})
}
