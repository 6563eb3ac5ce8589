//! Gemini: the rules for requests, and the formats of answers and errors.

use serde_json::{Value, json};

use crate::http::FixtureRequest;
use crate::model::script::{FixtureCall, FixtureStop, FixtureTurn, ScriptMessage};
use crate::model::signature;
use crate::model::vendor::{
    Delivery, GenerateRequest, GenerateTarget, Vendor, VendorEvent, VendorProblem,
    VendorProblemKind, ensure, items,
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
    // Google ends lines with CRLF.
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

/// Returns function calls as whole parts, of which only the first is signed.
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

/// Returns the finish reason. Gemini has none for function calls.
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

/// Returns the usage. Gemini counts thoughts separately from the candidates.
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

const REQUEST: &str = "model contents tools toolConfig safetySettings systemInstruction generationConfig \
    cachedContent labels serviceTier store";
const DECLARATION: &str =
    "name description behavior parameters parametersJsonSchema response responseJsonSchema";
const SCHEMA: &str = "type format title description nullable enum maxItems minItems properties required \
    minProperties maxProperties minLength maxLength pattern example anyOf propertyOrdering \
    default items minimum maximum";
const MAX_NAME_CHARS: usize = 64;

pub(crate) fn check(body: &Value) -> Result<(), VendorProblem> {
    check_known(body, REQUEST, "")?;
    check_contents(body)?;
    let system = field(body, "systemInstruction");
    ensure(system.is_null() || !items(&system["parts"]).is_empty(), || {
        "system_instruction.parts: must not be empty".to_owned()
    })?;
    check_tools(body)
}

fn check_tools(body: &Value) -> Result<(), VendorProblem> {
    let mut names = Vec::new();
    for (index, tool) in items(&body["tools"]).iter().enumerate() {
        let declarations = items(field(tool, "functionDeclarations")).iter().enumerate();
        for (number, declaration) in declarations {
            let place = format!("tools[{index}].function_declarations[{number}]");
            check_known(declaration, DECLARATION, &place)?;
            let name = declaration["name"].as_str().unwrap_or_default();
            check_name(name, &format!("{place}.name"))?;
            ensure(!names.contains(&name), || format!("the function `{name}` is declared twice"))?;
            names.push(name);
            let parameters = &declaration["parameters"];
            ensure(parameters.is_null() || is_object(parameters), || {
                format!("{place}.parameters.type: is not `object`")
            })?;
            check_schema(parameters, &format!("{place}.parameters"))?;
        }
    }
    Ok(())
}

fn check_name(name: &str, place: &str) -> Result<(), VendorProblem> {
    let starts = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    let fits = |character: char| character.is_ascii_alphanumeric() || "_.:-".contains(character);
    ensure(starts && name.chars().all(fits) && name.len() <= MAX_NAME_CHARS, || {
        format!(
            "{place}: Invalid function name `{name}`; it starts with a letter or an underscore, \
             goes on with letters, digits and _ . : - and has at most {MAX_NAME_CHARS} characters"
        )
    })
}

fn is_object(schema: &Value) -> bool {
    schema["type"].as_str().is_some_and(|of_type| of_type.eq_ignore_ascii_case("object"))
}

/// Checks that `parameters` stays within the supported subset of JSON Schema.
fn check_schema(schema: &Value, place: &str) -> Result<(), VendorProblem> {
    check_known(schema, SCHEMA, place)?;
    let of_type = &schema["type"];
    ensure(of_type.is_null() || of_type.is_string(), || {
        format!("{place}.type: is one name, not {of_type}")
    })?;
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        check_schema(property, &format!("{place}.properties[{name}]"))?;
    }
    if !schema["items"].is_null() {
        check_schema(&schema["items"], &format!("{place}.items"))?;
    }
    for (index, choice) in items(field(schema, "anyOf")).iter().enumerate() {
        check_schema(choice, &format!("{place}.any_of[{index}]"))?;
    }
    Ok(())
}

const PART: &str = "text thought thoughtSignature inlineData fileData functionCall functionResponse \
    partMetadata mediaResolution videoMetadata executableCode codeExecutionResult";
/// Fields that determine the kind of a part, which has exactly one of them.
const KINDS: &str = "text inlineData fileData functionCall functionResponse executableCode \
    codeExecutionResult";
/// Signature that Google documents for calls of another model.
const FOREIGN_SIGNATURE: &str = "skip_thought_signature_validator";

fn check_contents(body: &Value) -> Result<(), VendorProblem> {
    let contents = items(&body["contents"]);
    ensure(!contents.is_empty(), || "contents: must not be empty".to_owned())?;
    let mut expected = "user";
    let mut open: Vec<&Value> = Vec::new();
    for (index, content) in contents.iter().enumerate() {
        let place = format!("contents[{index}]");
        check_known(content, "role parts", &place)?;
        let role = content["role"].as_str().unwrap_or("user");
        ensure(["user", "model"].contains(&role), || {
            format!("{place}.role: use a valid role, user or model, not `{role}`")
        })?;
        ensure(role == expected, || {
            format!("{place}: turns alternate and begin with user, but `{role}` is here")
        })?;
        expected = if role == "user" { "model" } else { "user" };
        check_parts(content, &place)?;
        let responses = parts_by_kind(content, "functionResponse");
        if role == "model" {
            ensure(responses.is_empty(), || format!("{place}: a model gives no responses"))?;
            check_signatures(content, &place)?;
            open = parts_by_kind(content, "functionCall");
        } else {
            let calls = parts_by_kind(content, "functionCall");
            ensure(calls.is_empty(), || format!("{place}: a user makes no calls"))?;
            check_responses(&place, &std::mem::take(&mut open), &responses)?;
        }
    }
    ensure(expected == "model", || "contents: the last turn must be the user's".to_owned())
}

/// Returns the function calls or responses of a content.
fn parts_by_kind<'a>(content: &'a Value, kind: &str) -> Vec<&'a Value> {
    let parts = items(&content["parts"]).iter().map(|part| field(part, kind));
    parts.filter(|found| !found.is_null()).collect()
}

fn check_parts(content: &Value, place: &str) -> Result<(), VendorProblem> {
    let parts = items(&content["parts"]);
    ensure(!parts.is_empty(), || format!("{place}.parts: must not be empty"))?;
    for (index, part) in parts.iter().enumerate() {
        let place = format!("{place}.parts[{index}]");
        check_known(part, PART, &place)?;
        let kinds = KINDS.split(' ').filter(|kind| !field(part, kind).is_null()).count();
        ensure(kinds == 1, || format!("{place}.data: exactly one field of data is required"))?;
        let call = field(part, "functionCall");
        if !call.is_null() {
            check_known(call, "id name args", &format!("{place}.function_call"))?;
            check_name(call["name"].as_str().unwrap_or_default(), &place)?;
            ensure(call["args"].is_null() || call["args"].is_object(), || {
                format!("{place}.function_call.args: is not an object")
            })?;
        }
        let response = field(part, "functionResponse");
        if !response.is_null() {
            let known = "id name response parts willContinue scheduling";
            check_known(response, known, &format!("{place}.function_response"))?;
            ensure(response["response"].is_object(), || {
                format!("{place}.function_response.response: is not an object")
            })?;
        }
    }
    Ok(())
}

/// Checks that the first call of a turn carries the signature that the server sent with it.
fn check_signatures(content: &Value, place: &str) -> Result<(), VendorProblem> {
    let parts = items(&content["parts"]).iter().enumerate();
    let calls = parts.filter(|(_, part)| !field(part, "functionCall").is_null());
    for (count, (index, part)) in calls.enumerate() {
        let call = field(part, "functionCall");
        let name = call["name"].as_str().unwrap_or_default();
        let place = format!("{place}.parts[{index}]");
        match field(part, "thoughtSignature").as_str() {
            None => ensure(count > 0, || {
                format!("{place}: the function call `{name}` is missing a thought_signature")
            })?,
            Some(FOREIGN_SIGNATURE) => {}
            Some(given) => ensure(given == signature::call_signature(name, &call["args"]), || {
                format!("{place}: Invalid thought signature for the function call `{name}`")
            })?,
        }
    }
    Ok(())
}

fn check_responses(
    place: &str,
    calls: &[&Value],
    responses: &[&Value],
) -> Result<(), VendorProblem> {
    ensure(calls.len() == responses.len(), || {
        format!(
            "{place}: the number of function response parts ({}) must equal the number of \
             function call parts of the turn before ({})",
            responses.len(),
            calls.len()
        )
    })?;
    let mut open = calls.to_vec();
    for response in responses {
        let name = &response["name"];
        let id = &response["id"];
        let answers = |call: &&Value| call["name"] == *name && (id.is_null() || call["id"] == *id);
        let position = open.iter().position(answers).ok_or_else(|| {
            VendorProblem::request(format!(
                "{place}: no function call waits for a response of {name} {id}"
            ))
        })?;
        open.remove(position);
    }
    Ok(())
}

pub(crate) fn messages(body: &Value) -> Vec<ScriptMessage> {
    let contents = items(&body["contents"]).iter();
    let said = contents.map(|content| match content["role"].as_str() {
        Some("model") => ScriptMessage::ByTheModel,
        _ => {
            let texts = items(&content["parts"]).iter().map(text_of_part);
            let texts = texts.filter(|text| !text.is_empty());
            ScriptMessage::ToTheModel(texts.collect::<Vec<_>>().join("\n"))
        }
    });
    said.collect()
}

fn text_of_part(part: &Value) -> String {
    let mut texts = Vec::new();
    gather(&field(part, "functionResponse")["response"], &mut texts);
    texts.extend(part["text"].as_str().map(str::to_owned));
    texts.join("\n")
}

/// Collects all texts and numbers of a response, because the client chooses its structure.
fn gather(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| gather(item, texts)),
        Value::Object(fields) => fields.values().for_each(|field| gather(field, texts)),
        Value::Number(number) => texts.push(number.to_string()),
        Value::Null | Value::Bool(_) => {}
    }
}

/// Returns a field by its camel-case name, even if it is written in snake case.
fn field<'a>(value: &'a Value, name: &str) -> &'a Value {
    match &value[name] {
        Value::Null => &value[snake(name)],
        found => found,
    }
}

/// Rejects unknown fields by name, as Google does.
fn check_known(value: &Value, known: &str, place: &str) -> Result<(), VendorProblem> {
    let names = value.as_object().into_iter().flat_map(|fields| fields.keys());
    for name in names {
        let fits = known.split(' ').any(|known| name == known || *name == snake(known));
        ensure(fits, || {
            format!("Invalid JSON payload received. Unknown name \"{name}\" at '{place}'.")
        })?;
    }
    Ok(())
}

fn snake(name: &str) -> String {
    let mut snake = String::new();
    for character in name.chars() {
        if character.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(character.to_ascii_lowercase());
    }
    snake
}
