//! What Gemini sends: chunks of an answer, the whole of one, and models.

use serde_json::{Value, json};

use super::check::{check, messages};
use crate::http::FixtureRequest;
use crate::model::script::{FixtureCall, FixtureStop, FixtureTurn};
use crate::model::signature;
use crate::model::vendor::{
    Delivery, GenerateRequest, GenerateTarget, Vendor, VendorEvent, VendorProblem,
    VendorProblemKind,
};
use crate::model::wire::pieces;

pub(crate) const VENDOR: Vendor = Vendor {
    name: "gemini",
    base_path: "/v1beta",
    models_path: "/v1beta",
    required_header: None,
    key: |asked| asked.header("x-goog-api-key").or_else(|| asked.query("key")),
    target,
    check: |body, _| check(body),
    messages,
    events,
    whole,
    models: |models| json!({ "models": models }),
    model,
    no_such_model: |id| format!("models/{id} is not found for API version v1beta."),
    refusal,
    failure_status: 503,
    error_event: None,
    // Google ends its lines the way HTTP does.
    event_end: "\r\n\r\n",
    event_stream_type: "text/event-stream",
    request_id: ("server-timing", "gfet4t7; dur=1"),
};

fn events(generate: &GenerateRequest, answer: &FixtureTurn) -> Vec<VendorEvent> {
    let mut parts = Vec::new();
    for piece in answer.thinking.iter().flat_map(|text| pieces(text, answer.chunk)) {
        parts.push(json!({"text": piece, "thought": true}));
    }
    for piece in answer.text.iter().flat_map(|text| pieces(text, answer.chunk)) {
        parts.push(json!({ "text": piece }));
    }
    parts.extend(calls(answer));
    let mut chunks: Vec<Value> = parts
        .into_iter()
        .map(|part| {
            let content = json!({"parts": [part], "role": "model"});
            let mut usage = usage(generate, answer);
            usage["totalTokenCount"] = usage["promptTokenCount"].clone();
            if let Some(usage) = usage.as_object_mut() {
                usage.remove("candidatesTokenCount");
            }
            envelope(generate, answer, json!({"content": content, "index": 0}), usage)
        })
        .collect();
    let mut candidate = json!({"finishReason": finish_reason(answer.stop()), "index": 0});
    if answer.stop() == FixtureStop::Refused {
        candidate["safetyRatings"] = ratings();
    } else {
        let mut last = json!({"text": ""});
        if answer.thinking.is_some() && answer.calls.is_empty() {
            let text = answer.text.as_deref().unwrap_or_default();
            last["thoughtSignature"] = json!(signature::text_signature(text));
        }
        candidate["content"] = json!({"parts": [last], "role": "model"});
    }
    chunks.push(envelope(generate, answer, candidate, usage(generate, answer)));
    chunks.into_iter().map(|chunk| VendorEvent { name: None, data: chunk.to_string() }).collect()
}

fn whole(generate: &GenerateRequest, answer: &FixtureTurn) -> Value {
    let mut parts = Vec::new();
    if let Some(thinking) = &answer.thinking {
        parts.push(json!({"text": thinking, "thought": true}));
    }
    if let Some(text) = &answer.text {
        let mut part = json!({ "text": text });
        if answer.thinking.is_some() && answer.calls.is_empty() {
            part["thoughtSignature"] = json!(signature::text_signature(text));
        }
        parts.push(part);
    }
    parts.extend(calls(answer));
    let mut candidate = json!({
        "content": {"parts": parts, "role": "model"},
        "finishReason": finish_reason(answer.stop()), "index": 0,
    });
    if answer.stop() == FixtureStop::Refused {
        candidate["safetyRatings"] = ratings();
    }
    envelope(generate, answer, candidate, usage(generate, answer))
}

/// Whole calls, of which only the first is signed.
fn calls(answer: &FixtureTurn) -> impl Iterator<Item = Value> {
    let part = |(index, call): (usize, &FixtureCall)| {
        let id = format!("call{:03}{index:03}", answer.turn + 1);
        let mut part =
            json!({"functionCall": {"id": id, "name": call.name, "args": call.arguments}});
        if index == 0 {
            part["thoughtSignature"] =
                json!(signature::call_signature(&call.name, &call.arguments));
        }
        part
    };
    answer.calls.iter().enumerate().map(part)
}

fn envelope(
    generate: &GenerateRequest,
    answer: &FixtureTurn,
    candidate: Value,
    usage: Value,
) -> Value {
    json!({
        "candidates": [candidate], "usageMetadata": usage, "modelVersion": generate.model,
        "responseId": format!("scripted-{:03}", answer.turn + 1),
    })
}

/// There is no reason of its own for calls.
fn finish_reason(stop: FixtureStop) -> &'static str {
    match stop {
        FixtureStop::End | FixtureStop::Calls => "STOP",
        FixtureStop::Length => "MAX_TOKENS",
        FixtureStop::Refused => "SAFETY",
    }
}

fn ratings() -> Value {
    json!([{
        "category": "HARM_CATEGORY_DANGEROUS_CONTENT", "probability": "HIGH", "blocked": true,
    }])
}

/// Thoughts are counted beside the candidates, not among them.
fn usage(generate: &GenerateRequest, answer: &FixtureTurn) -> Value {
    let usage = generate.usage(answer);
    let thoughts = if answer.thinking.is_some() { usage.output / 2 } else { 0 };
    let mut metadata = json!({
        "promptTokenCount": usage.input,
        "candidatesTokenCount": usage.output - thoughts,
        "totalTokenCount": usage.input + usage.output,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": usage.input}],
    });
    if thoughts > 0 {
        metadata["thoughtsTokenCount"] = json!(thoughts);
    }
    if usage.cached > 0 {
        metadata["cachedContentTokenCount"] = json!(usage.cached);
        metadata["cacheTokensDetails"] = json!([{"modality": "TEXT", "tokenCount": usage.cached}]);
    }
    metadata
}

fn model(id: &str) -> Value {
    json!({
        "name": format!("models/{id}"), "version": "001",
        "displayName": format!("The model {id}"), "description": "A model that follows a script.",
        "inputTokenLimit": 1_048_576, "outputTokenLimit": 65_536,
        "supportedGenerationMethods": ["generateContent", "countTokens"],
        "temperature": 1, "topP": 0.95, "topK": 64, "maxTemperature": 2, "thinking": true,
    })
}

fn refusal(problem: &VendorProblem) -> (u16, Value) {
    let (status, details) = match problem.kind {
        VendorProblemKind::Request => (400, None),
        VendorProblemKind::NoKey => (403, None),
        VendorProblemKind::WrongKey => (400, Some(wrong_key())),
        VendorProblemKind::Model | VendorProblemKind::Route => (404, None),
        VendorProblemKind::Scripted(status, seconds) => (status, seconds.map(retry)),
    };
    let name = match status {
        400 => "INVALID_ARGUMENT",
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        429 => "RESOURCE_EXHAUSTED",
        499 => "CANCELLED",
        500 => "INTERNAL",
        503 => "UNAVAILABLE",
        504 => "DEADLINE_EXCEEDED",
        _ => "UNKNOWN",
    };
    let mut error = json!({"code": status, "message": problem.message, "status": name});
    if let Some(details) = details {
        error["details"] = json!([details]);
    }
    (status, json!({ "error": error }))
}

fn wrong_key() -> Value {
    json!({
        "@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID",
        "domain": "googleapis.com",
        "metadata": {"service": "generativelanguage.googleapis.com"},
    })
}

fn retry(seconds: u64) -> Value {
    json!({
        "@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": format!("{seconds}s"),
    })
}

fn target(asked: &FixtureRequest) -> Option<GenerateTarget> {
    let (model, method) = asked.path.strip_prefix("/v1beta/models/")?.split_once(':')?;
    let delivery = match method {
        "generateContent" => Delivery::Whole,
        "streamGenerateContent" if asked.query("alt") == Some("sse") => Delivery::Events,
        "streamGenerateContent" => Delivery::Array,
        _ => return None,
    };
    Some(GenerateTarget::InPath(model.to_owned(), delivery))
}
