//! OpenAI's rules for a request, and the messages in it.

use serde_json::Value;

use crate::model::problem::{VendorProblem, ensure};
use crate::model::request::{is_name, items};
use crate::model::turns::ScriptMessage;

const ROLES: &[&str] = &["system", "developer", "user", "assistant", "tool"];
const MAX_NAME_CHARS: usize = 64;

pub(crate) fn check(body: &Value) -> Result<(), VendorProblem> {
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

/// Every call is answered right behind its message, and nothing else is.
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

pub(crate) fn messages(body: &Value) -> Vec<ScriptMessage> {
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
