//! Gemini's rules for the contents of a conversation, and the messages in them.

use serde_json::Value;

use super::check::check_name;
use super::fields::{check_known, field};
use crate::model::problem::{VendorProblem, ensure};
use crate::model::request::items;
use crate::model::signature;
use crate::model::turns::ScriptMessage;

const PART: &[&str] = &[
    "text",
    "thought",
    "thoughtSignature",
    "inlineData",
    "fileData",
    "functionCall",
    "functionResponse",
    "partMetadata",
    "mediaResolution",
    "videoMetadata",
    "executableCode",
    "codeExecutionResult",
];
/// One of these makes a part what it is.
const KINDS: &[&str] = &[
    "text",
    "inlineData",
    "fileData",
    "functionCall",
    "functionResponse",
    "executableCode",
    "codeExecutionResult",
];
/// What Google documents for calls that another model made.
const FOREIGN_SIGNATURE: &str = "skip_thought_signature_validator";

pub(crate) fn check(body: &Value) -> Result<(), VendorProblem> {
    let contents = items(&body["contents"]);
    ensure(!contents.is_empty(), || "contents: must not be empty".to_owned())?;
    let mut expected = "user";
    let mut open: Vec<&Value> = Vec::new();
    for (index, content) in contents.iter().enumerate() {
        let place = format!("contents[{index}]");
        check_known(content, &["role", "parts"], &place)?;
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

/// The calls or responses of a content.
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
        let kinds = KINDS.iter().filter(|kind| !field(part, kind).is_null()).count();
        ensure(kinds == 1, || format!("{place}.data: exactly one field of data is required"))?;
        let call = field(part, "functionCall");
        if !call.is_null() {
            check_known(call, &["id", "name", "args"], &format!("{place}.function_call"))?;
            check_name(call["name"].as_str().unwrap_or_default(), &place)?;
            ensure(call["args"].is_null() || call["args"].is_object(), || {
                format!("{place}.function_call.args: is not an object")
            })?;
        }
        let response = field(part, "functionResponse");
        if !response.is_null() {
            let known = ["id", "name", "response", "parts", "willContinue", "scheduling"];
            check_known(response, &known, &format!("{place}.function_response"))?;
            ensure(response["response"].is_object(), || {
                format!("{place}.function_response.response: is not an object")
            })?;
        }
    }
    Ok(())
}

/// The first call of a turn carries the signature, as it did when the server gave it.
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

/// A response is an object of the client's making, so every text in it counts.
fn gather(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| gather(item, texts)),
        Value::Object(fields) => fields.values().for_each(|field| gather(field, texts)),
        Value::Number(number) => texts.push(number.to_string()),
        Value::Null | Value::Bool(_) => {}
    }
}
