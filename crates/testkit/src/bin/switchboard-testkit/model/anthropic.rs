//! Anthropic: the rules for requests, and the formats of answers and errors.

use serde_json::{Value, json};

use crate::model::script::{FixtureStop, FixtureTurn, ScriptMessage, Turns};
use crate::model::signature;
use crate::model::vendor::{
    GenerateRequest, GenerateTarget, Vendor, VendorEvent, VendorProblem, VendorProblemKind, ensure,
    is_name, items,
};
use crate::model::wire::{fragments, pieces};

/// A content block and its streamed deltas.
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
        // The first fragment is empty, and the only one if there are no arguments.
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

/// Returns the usage. Anthropic does not include cached tokens in `input_tokens`.
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

const MAX_CACHE_MARKS: usize = 4;
const MIN_THINKING_TOKENS: u64 = 1_024;
const MAX_NAME_CHARS: usize = 128;

pub(crate) fn check(body: &Value, turns: &Turns) -> Result<(), VendorProblem> {
    let most = body["max_tokens"].as_u64().unwrap_or(0);
    ensure(most > 0, || "max_tokens: Field required, a number above 0".to_owned())?;
    let messages = items(&body["messages"]);
    ensure(!messages.is_empty(), || "messages: at least one message is required".to_owned())?;
    check_roles(messages)?;
    for (index, message) in messages.iter().enumerate() {
        check_message(message, &format!("messages.{index}"))?;
    }
    check_system(&body["system"])?;
    check_pairs(messages)?;
    check_tools(body, messages)?;
    check_cache_marks(body)?;
    check_thinking(body, turns)
}

fn check_roles(messages: &[Value]) -> Result<(), VendorProblem> {
    let mut expected = "user";
    for (index, message) in messages.iter().enumerate() {
        let place = format!("messages.{index}");
        check_fields(message, &["role", "content"], &place)?;
        let role = message["role"].as_str().unwrap_or_default();
        ensure(["user", "assistant"].contains(&role), || {
            format!("{place}: Unexpected role \"{role}\"; it is `user` or `assistant`")
        })?;
        ensure(role == expected, || {
            format!("{place}: roles alternate and begin with `user`, but `{role}` is here")
        })?;
        expected = if role == "user" { "assistant" } else { "user" };
    }
    Ok(())
}

fn check_tools(body: &Value, messages: &[Value]) -> Result<(), VendorProblem> {
    let tools = items(&body["tools"]);
    let mut names = Vec::new();
    for (index, tool) in tools.iter().enumerate() {
        let name = tool["name"].as_str().unwrap_or_default();
        ensure(is_name(name, MAX_NAME_CHARS), || {
            format!("tools.{index}.name: `{name}` does not match ^[a-zA-Z0-9_-]{{1,128}}$")
        })?;
        ensure(!names.contains(&name), || format!("tools: the name `{name}` is there twice"))?;
        names.push(name);
        ensure(tool["input_schema"]["type"] == "object", || {
            format!("tools.{index}.input_schema.type: is not `object`")
        })?;
    }
    let used = messages.iter().flat_map(|message| items(&message["content"]));
    let used = used.into_iter().any(|block| block["type"] == "tool_use");
    ensure(!used || !tools.is_empty(), || {
        "tools: a request with `tool_use` blocks must define tools".to_owned()
    })?;
    ensure(body["tool_choice"].is_null() || !tools.is_empty(), || {
        "tool_choice: is only allowed with tools".to_owned()
    })
}

fn check_cache_marks(body: &Value) -> Result<(), VendorProblem> {
    let marks = ["system", "messages", "tools"].map(|part| count_marks(&body[part]));
    let count = marks.iter().sum::<usize>() + usize::from(!body["cache_control"].is_null());
    ensure(count <= MAX_CACHE_MARKS, || {
        format!("at most {MAX_CACHE_MARKS} blocks may have cache_control; there are {count}")
    })
}

/// Counts `cache_control` on blocks and on nested blocks, but not in schemas or inputs.
fn count_marks(value: &Value) -> usize {
    let of_item = |item: &Value| {
        usize::from(!item["cache_control"].is_null()) + count_marks(&item["content"])
    };
    items(value).iter().map(of_item).sum()
}

fn check_thinking(body: &Value, turns: &Turns) -> Result<(), VendorProblem> {
    let thinking = &body["thinking"];
    if thinking["type"] != "enabled" {
        let known =
            thinking.is_null() || ["disabled", "adaptive"].iter().any(|of| thinking["type"] == *of);
        return ensure(known, || format!("thinking.type: {} is unknown", thinking["type"]));
    }
    let budget = thinking["budget_tokens"].as_u64().unwrap_or(0);
    ensure(budget >= MIN_THINKING_TOKENS, || {
        format!("thinking.budget_tokens: is at least {MIN_THINKING_TOKENS}, not {budget}")
    })?;
    ensure(body["max_tokens"].as_u64().is_some_and(|most| most > budget), || {
        "max_tokens: must be greater than thinking.budget_tokens".to_owned()
    })?;
    ensure(["null", "1", "1.0"].contains(&body["temperature"].to_string().as_str()), || {
        "temperature: may only be 1 when thinking is enabled".to_owned()
    })?;
    check_kept_thoughts(items(&body["messages"]), turns)
}

/// Checks that the thinking blocks of a tool-use loop are sent back.
fn check_kept_thoughts(messages: &[Value], turns: &Turns) -> Result<(), VendorProblem> {
    let is_results = |message: &Value| {
        items(&message["content"]).iter().any(|block| block["type"] == "tool_result")
    };
    let last_word =
        messages.iter().rposition(|message| message["role"] == "user" && !is_results(message));
    for (index, message) in messages.iter().enumerate().skip(last_word.unwrap_or(0)) {
        // Roles alternate, so every second message is the model's.
        let thought = message["role"] == "assistant" && turns.thought(index / 2);
        let first = items(&message["content"]).first().map(|block| &block["type"]);
        let kept = first.is_some_and(|first| first == "thinking" || first == "redacted_thinking");
        ensure(!thought || kept, || {
            format!(
                "messages.{index}.content.0: Expected `thinking` or `redacted_thinking` at the \
                 start of an assistant message while thinking is enabled"
            )
        })?;
    }
    Ok(())
}

pub(crate) fn messages(body: &Value) -> Vec<ScriptMessage> {
    let messages = items(&body["messages"]).iter();
    let said = messages.map(|message| match message["role"].as_str() {
        Some("assistant") => ScriptMessage::ByTheModel,
        _ => ScriptMessage::ToTheModel(text(&message["content"])),
    });
    said.collect()
}

fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        blocks => {
            let texts = items(blocks).iter().map(|block| match block["type"].as_str() {
                Some("tool_result") => text(&block["content"]),
                _ => block["text"].as_str().unwrap_or_default().to_owned(),
            });
            texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
        }
    }
}

/// Type, permitted fields and permitted roles of each block.
const BLOCKS: &[(&str, &[&str], &[&str])] = &[
    ("text", &["text", "cache_control", "citations"], &["user", "assistant"]),
    ("image", &["source", "cache_control"], &["user"]),
    ("document", &["source", "title", "context", "citations", "cache_control"], &["user"]),
    ("tool_result", &["tool_use_id", "content", "is_error", "cache_control"], &["user"]),
    ("tool_use", &["id", "name", "input", "cache_control", "caller"], &["assistant"]),
    ("thinking", &["thinking", "signature"], &["assistant"]),
    ("redacted_thinking", &["data"], &["assistant"]),
];

fn check_message(message: &Value, place: &str) -> Result<(), VendorProblem> {
    let role = message["role"].as_str().unwrap_or_default();
    let blocks = match &message["content"] {
        Value::String(text) => {
            return ensure(!text.is_empty(), || format!("{place}: has no content"));
        }
        Value::Array(blocks) => blocks,
        other => {
            return Err(VendorProblem::request(format!(
                "{place}.content: is a text or a list of blocks, not {other}"
            )));
        }
    };
    ensure(!blocks.is_empty(), || format!("{place}: has no content"))?;
    for (index, block) in blocks.iter().enumerate() {
        let place = format!("{place}.content.{index}");
        let of_type = block["type"].as_str().unwrap_or_default();
        let known = BLOCKS.iter().find(|(name, ..)| *name == of_type);
        let Some((_, fields, roles)) = known else {
            return Err(VendorProblem::request(format!(
                "{place}: the type `{of_type}` is unknown"
            )));
        };
        ensure(roles.contains(&role), || {
            format!("{place}: `{of_type}` blocks are not for messages of the role `{role}`")
        })?;
        check_fields(block, &[&["type"], *fields].concat(), &place)?;
        check_block(block, of_type, &place)?;
    }
    Ok(())
}

fn check_fields(value: &Value, known: &[&str], place: &str) -> Result<(), VendorProblem> {
    let names = value.as_object().into_iter().flat_map(|fields| fields.keys());
    let mut extra = names.filter(|name| !known.contains(&name.as_str()));
    match extra.next() {
        None => Ok(()),
        Some(name) => {
            Err(VendorProblem::request(format!("{place}.{name}: Extra inputs are not permitted")))
        }
    }
}

fn check_block(block: &Value, of_type: &str, place: &str) -> Result<(), VendorProblem> {
    match of_type {
        "text" => check_text(block, place),
        "tool_use" => {
            let name = block["name"].as_str().unwrap_or_default();
            let id = block["id"].as_str().unwrap_or_default();
            ensure(is_name(id, usize::MAX), || {
                format!("{place}.id: `{id}` does not match ^[a-zA-Z0-9_-]+$")
            })?;
            ensure(is_name(name, MAX_NAME_CHARS), || {
                format!("{place}.name: `{name}` does not match ^[a-zA-Z0-9_-]{{1,128}}$")
            })?;
            ensure(block["input"].is_object(), || format!("{place}.input: is not an object"))
        }
        "tool_result" => {
            let content = &block["content"];
            let fits = content.is_null() || content.is_string() || content.is_array();
            ensure(fits, || format!("{place}.content: is neither a text nor a list"))?;
            for (index, inner) in items(content).iter().enumerate() {
                if inner["type"] == "text" {
                    check_text(inner, &format!("{place}.content.{index}"))?;
                }
            }
            Ok(())
        }
        "thinking" => {
            let thinking = block["thinking"].as_str().unwrap_or_default();
            let signed = block["signature"].as_str();
            ensure(signed.is_some(), || format!("{place}.signature: Field required"))?;
            ensure(signed == Some(&signature::thinking_signature(thinking)), || {
                format!("{place}: Invalid `signature` in `thinking` block")
            })
        }
        _ => Ok(()),
    }
}

fn check_text(block: &Value, place: &str) -> Result<(), VendorProblem> {
    let text = block["text"].as_str().unwrap_or_default();
    ensure(!text.is_empty(), || format!("{place}: text content blocks must be non-empty"))?;
    let white = text.trim().is_empty();
    ensure(!white, || format!("{place}: text content blocks must hold more than white space"))
}

fn check_system(system: &Value) -> Result<(), VendorProblem> {
    for (index, block) in items(system).iter().enumerate() {
        let place = format!("system.{index}");
        ensure(block["type"] == "text", || format!("{place}.type: is not `text`"))?;
        check_text(block, &place)?;
    }
    Ok(())
}

fn check_pairs(messages: &[Value]) -> Result<(), VendorProblem> {
    let mut open: Vec<&str> = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        let place = format!("messages.{index}");
        if message["role"] == "assistant" {
            open = call_ids(message, &place)?;
            let is_last = index + 1 == messages.len();
            ensure(open.is_empty() || !is_last, || unanswered_message(&place, &open))?;
        } else {
            check_results(message, &place, std::mem::take(&mut open))?;
        }
    }
    Ok(())
}

fn call_ids<'a>(message: &'a Value, place: &str) -> Result<Vec<&'a str>, VendorProblem> {
    let mut ids = Vec::new();
    for block in items(&message["content"]).iter().filter(|block| block["type"] == "tool_use") {
        let id = block["id"].as_str().unwrap_or_default();
        ensure(!ids.contains(&id), || format!("{place}: the `tool_use` id `{id}` is there twice"))?;
        ids.push(id);
    }
    Ok(ids)
}

fn check_results(message: &Value, place: &str, mut open: Vec<&str>) -> Result<(), VendorProblem> {
    let mut results_are_over = false;
    for (index, block) in items(&message["content"]).iter().enumerate() {
        if block["type"] != "tool_result" {
            results_are_over = true;
            continue;
        }
        ensure(!results_are_over, || {
            format!("{place}.content.{index}: `tool_result` blocks come before all others")
        })?;
        let id = block["tool_use_id"].as_str().unwrap_or_default();
        let position = open.iter().position(|open| *open == id).ok_or_else(|| {
            VendorProblem::request(format!(
                "{place}.content.{index}: unexpected `tool_use_id` `{id}`; no `tool_use` in the \
                 message before waits for it"
            ))
        })?;
        open.remove(position);
    }
    ensure(open.is_empty(), || unanswered_message(place, &open))
}

fn unanswered_message(place: &str, open: &[&str]) -> String {
    format!(
        "{place}: `tool_use` ids without a `tool_result` in the next message: {}",
        open.join(", ")
    )
}
