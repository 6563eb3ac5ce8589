//! Anthropic's rules for a request as a whole, and the messages in it.

use serde_json::Value;

use super::{blocks, pairs};
use crate::model::problem::{VendorProblem, ensure};
use crate::model::request::{is_name, items};
use crate::model::turns::{ScriptMessage, Turns};

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
        blocks::check(message, &format!("messages.{index}"))?;
    }
    blocks::check_system(&body["system"])?;
    pairs::check(messages)?;
    check_tools(body, messages)?;
    check_cache_marks(body)?;
    check_thinking(body, turns)
}

fn check_roles(messages: &[Value]) -> Result<(), VendorProblem> {
    let mut expected = "user";
    for (index, message) in messages.iter().enumerate() {
        let place = format!("messages.{index}");
        blocks::check_fields(message, &["role", "content"], &place)?;
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

/// Marks on blocks and on what is inside of them, but not in what a schema or an input says.
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

/// In a loop of calls the thoughts that led to them must come back.
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
