//! The tools of a server that wants a login.

use serde_json::{Value, json};

use super::content;
use crate::message::{IncomingMessage, META_CALLER};

pub(crate) fn tools() -> Vec<Value> {
    let tool = |name: &str, description: &str, properties: Value, required: &[&str]| {
        json!({
            "name": name,
            "description": description,
            "inputSchema": {"type": "object", "properties": properties, "required": required},
        })
    };
    vec![
        tool("whoami", "Says who is logged in.", json!({}), &[]),
        tool("echo", "Answers with the text.", json!({"text": {"type": "string"}}), &["text"]),
        tool(
            "write_file",
            "Needs more than a login.",
            json!({"path": {"type": "string"}}),
            &["path"],
        ),
    ]
}

/// Nothing for an unknown tool; the name of an argument when it does not fit.
pub(crate) fn run(name: &str, incoming: &IncomingMessage) -> Option<Result<Value, &'static str>> {
    let text = |name: &'static str| incoming.arguments()[name].as_str().ok_or(name);
    match name {
        "whoami" => {
            let caller = incoming.meta(META_CALLER).and_then(Value::as_str).unwrap_or("nobody");
            Some(Ok(content::text(caller.to_owned())))
        }
        "echo" => Some(text("text").map(|text| content::text(text.to_owned()))),
        "write_file" => Some(text("path").map(|path| content::text(format!("wrote {path}")))),
        _ => None,
    }
}
