//! Anthropic's rule that every call is answered in the very next message.

use serde_json::Value;

use crate::model::problem::{VendorProblem, ensure};
use crate::model::request::items;

pub(crate) fn check(messages: &[Value]) -> Result<(), VendorProblem> {
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
