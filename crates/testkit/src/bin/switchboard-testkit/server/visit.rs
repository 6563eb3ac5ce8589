//! A tool that runs only after the person has been at an address: the error -32042 of 2025-11-25.

use serde_json::{Value, json};

use super::{Exchange, content};
use crate::message::{self, IncomingMessage, RpcAnswer};

const URL_REQUIRED: i64 = -32042;

pub(crate) fn definition() -> Value {
    json!({
        "name": "visit",
        "description": "Needs a visit to an address first.",
        "inputSchema": {"type": "object", "properties": {
            "refusals": {"type": "integer"}, "fresh": {"type": "boolean"},
        }},
    })
}

/// Refuses as often as it is told to; nothing for another tool.
pub(crate) async fn call(exchange: &Exchange, incoming: &IncomingMessage) -> Option<RpcAnswer> {
    let server = &exchange.server;
    if !server.options.tasks || incoming.text("name") != Some("visit") {
        return None;
    }
    let arguments = incoming.arguments();
    let refusals = arguments["refusals"].as_u64().unwrap_or(1);
    let before = server.count_visit();
    if before >= refusals {
        server.journal.line("visited");
        return Some(RpcAnswer::Result(content::text(format!("in after {before} refusals"))));
    }
    // A server may want another address each time, or the same one.
    let number = if arguments["fresh"] == true { before + 1 } else { 1 };
    let id = format!("visit-{number}");
    let address = json!({
        "mode": "url",
        "elicitationId": id,
        "url": format!("https://login.example.com/{number}"),
        "message": "Log in there first.",
    });
    let done = message::notice("notifications/elicitation/complete", &json!({"elicitationId": id}));
    exchange.outlet.notice(done).await;
    Some(RpcAnswer::Refusal {
        code: URL_REQUIRED,
        message: "a visit is needed first".to_owned(),
        data: Some(json!({"elicitations": [address]})),
    })
}
