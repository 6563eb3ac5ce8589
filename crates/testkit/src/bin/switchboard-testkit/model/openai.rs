//! OpenAI: the rules for requests, and the formats of answers and errors.

use serde_json::{Value, json};

use crate::model::script::{FixtureCall, FixtureStop, FixtureTurn, ScriptMessage};
use crate::model::vendor::{
    GenerateRequest, GenerateTarget, Vendor, VendorEvent, VendorProblem, VendorProblemKind, ensure,
    is_name, items,
};
use crate::model::wire::{fragments, pieces};

const CREATED: u64 = 1_754_000_000;

pub(crate) const VENDOR: Vendor = Vendor {
    name: "openai",
    base_path: "/v1",
    models_path: "/v1",
    required_header: None,
    key: |asked| asked.header("authorization")?.strip_prefix("Bearer "),
    target: |asked| (asked.path == "/v1/chat/completions").then_some(GenerateTarget::InBody),
    check: |body, _| check(body),
    messages,
    events,
    whole,
    models: |models| json!({"object": "list", "data": models}),
    model: |id| json!({"id": id, "object": "model", "created": CREATED, "owned_by": "system"}),
    no_such_model: |id| format!("The model `{id}` does not exist or is not open to you."),
    refusal,
    failure_status: 500,
    error_event: None,
    event_end: "\n\n",
    event_stream_type: "text/event-stream; charset=utf-8",
    request_id: ("x-request-id", "req_scripted"),
};

fn events(generate: &GenerateRequest, answer: &FixtureTurn) -> Vec<VendorEvent> {
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
    chunks.push(choice(json!({}), Some(finish_reason(answer.stop()))));
    if with_usage {
        let mut last = chunk(json!([]));
        last["usage"] = usage(generate, answer);
        chunks.push(last);
    }
    let data = chunks.into_iter().map(|chunk| chunk.to_string());
    data.chain(["[DONE]".to_owned()]).map(|data| VendorEvent { name: None, data }).collect()
}

fn deltas(answer: &FixtureTurn) -> Vec<Value> {
    let opening = if answer.text.is_none() && !answer.calls.is_empty() { None } else { Some("") };
    let mut deltas = vec![json!({"role": "assistant", "content": opening, "refusal": null})];
    for piece in answer.thinking.iter().flat_map(|text| pieces(text, answer.chunk)) {
        // OpenAI itself does not send thoughts; compatible servers send them like this.
        deltas.push(json!({ "reasoning_content": piece }));
    }
    for piece in answer.text.iter().flat_map(|text| pieces(text, answer.chunk)) {
        deltas.push(json!({ "content": piece }));
    }
    for (index, call) in answer.calls.iter().enumerate() {
        let mut start = call_value(answer, index, call, String::new());
        start["index"] = json!(index);
        // A single call begins in the first delta; several calls do not.
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

fn whole(generate: &GenerateRequest, answer: &FixtureTurn) -> Value {
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
        "finish_reason": finish_reason(answer.stop()),
    }]);
    whole["usage"] = usage(generate, answer);
    whole
}

fn call_value(answer: &FixtureTurn, index: usize, call: &FixtureCall, arguments: String) -> Value {
    let id = format!("call_{:03}{index:03}scriptedModelTurn", answer.turn + 1);
    let function = json!({"name": call.name, "arguments": arguments});
    json!({"id": id, "type": "function", "function": function})
}

fn envelope(generate: &GenerateRequest, answer: &FixtureTurn, object: &str) -> Value {
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

fn usage(generate: &GenerateRequest, answer: &FixtureTurn) -> Value {
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

fn refusal(problem: &VendorProblem) -> (u16, Value) {
    let (status, of_type, code) = match problem.kind {
        VendorProblemKind::Request => (400, "invalid_request_error", None),
        VendorProblemKind::NoKey => (401, "invalid_request_error", None),
        VendorProblemKind::WrongKey => (401, "invalid_request_error", Some("invalid_api_key")),
        VendorProblemKind::Model => (404, "invalid_request_error", Some("model_not_found")),
        VendorProblemKind::Route => (404, "invalid_request_error", Some("unknown_url")),
        VendorProblemKind::Scripted(status, _) => {
            let (of_type, code) = match status {
                429 => ("requests", Some("rate_limit_exceeded")),
                500.. => ("server_error", None),
                _ => ("invalid_request_error", None),
            };
            (status, of_type, code)
        }
    };
    let error = json!({
        "message": problem.message, "type": of_type, "param": null, "code": code,
    });
    (status, json!({ "error": error }))
}

const ROLES: &[&str] = &["system", "developer", "user", "assistant", "tool"];
const MAX_NAME_CHARS: usize = 64;

fn check(body: &Value) -> Result<(), VendorProblem> {
    let messages = items(&body["messages"]);
    ensure(!messages.is_empty(), || "`messages` is missing or empty".to_owned())?;
    for (index, message) in messages.iter().enumerate() {
        let place = format!("messages[{index}]");
        let role = message["role"].as_str().unwrap_or_default();
        ensure(ROLES.contains(&role), || format!("`{place}.role` is not a role: `{role}`"))?;
        match role {
            "assistant" => check_assistant(message, &place)?,
            "tool" => {
                let named = message["tool_call_id"].is_string();
                ensure(named, || format!("`{place}.tool_call_id` is missing"))?;
                check_content(message, &place)?;
            }
            _ => check_content(message, &place)?,
        }
    }
    check_pairs(messages)?;
    check_tools(body)?;
    let streams = body["stream"] == Value::Bool(true);
    ensure(streams || body["stream_options"].is_null(), || {
        "`stream_options` is only allowed when `stream` is on".to_owned()
    })
}

fn check_content(message: &Value, place: &str) -> Result<(), VendorProblem> {
    match &message["content"] {
        Value::String(_) => Ok(()),
        Value::Array(parts) => {
            ensure(!parts.is_empty(), || format!("`{place}.content` is empty"))?;
            let strange = parts.iter().find(|part| !part["type"].is_string());
            ensure(strange.is_none(), || format!("a part of `{place}.content` has no type"))
        }
        other => Err(VendorProblem::request(format!(
            "`{place}.content` is a text or a list of parts, not {other}"
        ))),
    }
}

fn check_assistant(message: &Value, place: &str) -> Result<(), VendorProblem> {
    let calls = match &message["tool_calls"] {
        Value::Null => return check_content(message, place),
        Value::Array(calls) => calls,
        other => {
            return Err(VendorProblem::request(format!(
                "`{place}.tool_calls` is no list: {other}"
            )));
        }
    };
    ensure(!calls.is_empty(), || format!("`{place}.tool_calls` is empty"))?;
    if !message["content"].is_null() {
        check_content(message, place)?;
    }
    for (index, call) in calls.iter().enumerate() {
        let place = format!("{place}.tool_calls[{index}]");
        ensure(call["id"].as_str().is_some_and(|id| !id.is_empty()), || {
            format!("`{place}.id` is missing")
        })?;
        ensure(call["type"] == "function", || format!("`{place}.type` is not `function`"))?;
        check_name(&call["function"]["name"], &format!("{place}.function.name"))?;
        let arguments = call["function"]["arguments"].as_str();
        let parsed = arguments.map(serde_json::from_str::<Value>);
        ensure(matches!(parsed, Some(Ok(_))), || {
            format!("`{place}.function.arguments` is not a text that holds JSON: {arguments:?}")
        })?;
    }
    Ok(())
}

fn check_name(name: &Value, place: &str) -> Result<(), VendorProblem> {
    let fits = name.as_str().is_some_and(|name| is_name(name, MAX_NAME_CHARS));
    ensure(fits, || format!("`{place}` does not match ^[a-zA-Z0-9_-]{{1,64}}$: {name}"))
}

/// Checks that tool messages directly follow the message with their calls, one for each call.
fn check_pairs(messages: &[Value]) -> Result<(), VendorProblem> {
    let mut open: Vec<&str> = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        if message["role"] == "tool" {
            let id = message["tool_call_id"].as_str().unwrap_or_default();
            let place = open.iter().position(|open| *open == id).ok_or_else(|| {
                VendorProblem::request(format!(
                    "`messages[{index}]` of the role `tool` answers `{id}`, which no call in \
                     front of it waits for"
                ))
            })?;
            open.remove(place);
            continue;
        }
        check_answered(&open)?;
        open =
            items(&message["tool_calls"]).iter().filter_map(|call| call["id"].as_str()).collect();
    }
    check_answered(&open)
}

fn check_answered(open: &[&str]) -> Result<(), VendorProblem> {
    ensure(open.is_empty(), || {
        format!(
            "an assistant message with `tool_calls` must be followed by a message of the role \
             `tool` for each of them; unanswered: {}",
            open.join(", ")
        )
    })
}

fn check_tools(body: &Value) -> Result<(), VendorProblem> {
    let tools = match &body["tools"] {
        Value::Null => {
            let without = ["tool_choice", "parallel_tool_calls"];
            let lonely = without.iter().find(|name| !body[**name].is_null());
            return match lonely {
                None => Ok(()),
                Some(name) => {
                    Err(VendorProblem::request(format!("`{name}` is only allowed with `tools`")))
                }
            };
        }
        Value::Array(tools) => tools,
        other => return Err(VendorProblem::request(format!("`tools` is no list: {other}"))),
    };
    ensure(!tools.is_empty(), || "`tools` is empty".to_owned())?;
    for (index, tool) in tools.iter().enumerate() {
        let place = format!("tools[{index}]");
        ensure(tool["type"] == "function", || format!("`{place}.type` is not `function`"))?;
        check_name(&tool["function"]["name"], &format!("{place}.function.name"))?;
        let parameters = &tool["function"]["parameters"];
        ensure(parameters.is_null() || parameters["type"] == "object", || {
            format!("`{place}.function.parameters` is not a schema of the type `object`")
        })?;
    }
    Ok(())
}

fn messages(body: &Value) -> Vec<ScriptMessage> {
    let messages = items(&body["messages"]).iter();
    messages
        .filter_map(|message| match message["role"].as_str() {
            Some("assistant") => Some(ScriptMessage::ByTheModel),
            Some("user" | "tool") => Some(ScriptMessage::ToTheModel(text(&message["content"]))),
            _ => None,
        })
        .collect()
}

fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        parts => {
            let texts = items(parts).iter().filter_map(|part| part["text"].as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
    }
}
