//! Anthropic's rules for the content blocks of one message.

use serde_json::Value;

use crate::model::problem::{VendorProblem, ensure};
use crate::model::request::{is_name, items};
use crate::model::signature;

const MAX_NAME_CHARS: usize = 128;

/// What a block of each type may have, and who may say it.
const BLOCKS: &[(&str, &[&str], &[&str])] = &[
    ("text", &["text", "cache_control", "citations"], &["user", "assistant"]),
    ("image", &["source", "cache_control"], &["user"]),
    ("document", &["source", "title", "context", "citations", "cache_control"], &["user"]),
    ("tool_result", &["tool_use_id", "content", "is_error", "cache_control"], &["user"]),
    ("tool_use", &["id", "name", "input", "cache_control", "caller"], &["assistant"]),
    ("thinking", &["thinking", "signature"], &["assistant"]),
    ("redacted_thinking", &["data"], &["assistant"]),
];

pub(crate) fn check(message: &Value, place: &str) -> Result<(), VendorProblem> {
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

pub(crate) fn check_fields(
    value: &Value,
    known: &[&str],
    place: &str,
) -> Result<(), VendorProblem> {
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

pub(crate) fn check_system(system: &Value) -> Result<(), VendorProblem> {
    for (index, block) in items(system).iter().enumerate() {
        let place = format!("system.{index}");
        ensure(block["type"] == "text", || format!("{place}.type: is not `text`"))?;
        check_text(block, &place)?;
    }
    Ok(())
}
