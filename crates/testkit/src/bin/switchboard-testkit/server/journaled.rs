//! Tools of five kinds that write every call to the journal before they answer it.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Exchange, content};
use crate::message::{INVALID_PARAMS, IncomingMessage, RpcAnswer};

/// Kinds of tools; the first part of their names: `echo_001`, `slow_001` and so on.
const KINDS: [&str; 5] = ["echo", "slow", "fail", "big", "progress"];
/// Number of progress notifications that `progress` sends.
const STEPS: u32 = 3;
const STEP: Duration = Duration::from_millis(5);

/// Returns `count` tools, with the kinds in rotation.
pub(crate) fn definitions(count: usize) -> Vec<Value> {
    (0..count)
        .map(|number| {
            let kind = KINDS[number % KINDS.len()];
            json!({
                "name": format!("{kind}_{:03}", number / KINDS.len() + 1),
                "description": format!("Notes the call, then does what `{kind}` says."),
                "inputSchema": {
                    "type": "object",
                    "properties": {
                        "id": {"type": "string", "description": "What the journal calls it."},
                        "ms": {"type": "integer", "minimum": 0, "maximum": 60_000},
                        "bytes": {"type": "integer", "minimum": 0, "maximum": 1_000_000},
                    },
                    "required": ["id"],
                },
            })
        })
        .collect()
}

/// Calls a tool. Every answer begins with the call's id, so that tests detect a mix-up.
pub(crate) async fn call(exchange: &Exchange, incoming: &IncomingMessage) -> RpcAnswer {
    let name = incoming.text("name").unwrap_or_default();
    let arguments = incoming.arguments();
    let Some(id) = arguments["id"].as_str() else {
        return RpcAnswer::refuse(INVALID_PARAMS, "`id` is missing");
    };
    let size = |key: &str| arguments[key].as_u64().unwrap_or_default();
    exchange.server.journal.line(&json!({"event": "call", "tool": name, "id": id}).to_string());
    RpcAnswer::Result(match name.split('_').next() {
        Some("slow") => {
            tokio::time::sleep(Duration::from_millis(size("ms"))).await;
            content::text(id)
        }
        Some("fail") => content::failure(id),
        Some("big") => {
            let more = usize::try_from(size("bytes")).unwrap_or_default();
            content::text(format!("{id}{}", "x".repeat(more)))
        }
        Some("progress") => {
            for step in 1..=STEPS {
                tokio::time::sleep(STEP).await;
                exchange.report(incoming, json!({"progress": step, "total": STEPS})).await;
            }
            content::text(id)
        }
        _ => content::text(id),
    })
}
