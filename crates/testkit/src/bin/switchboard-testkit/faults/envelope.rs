//! Faults in the JSON-RPC message around a result, on any transport.

use serde_json::{Value, json};

use super::Fault;
use crate::message::{self, IncomingMessage, RpcAnswer};
use crate::server::{Exchange, answer};

const HUGE_BYTES: usize = 2 * 1024 * 1024;

pub(crate) async fn strike(exchange: &Exchange, fault: &Fault, incoming: &IncomingMessage) {
    match fault.name {
        "notification-flood" => flood(exchange, fault.count).await,
        "ask-during-call" => {
            let sampling = json!({
                "messages": [{"role": "user", "content": {"type": "text", "text": "Say hello."}}],
                "maxTokens": 10,
            });
            let nothing = json!({});
            let conversation = &exchange.conversation;
            let outlet = &exchange.outlet;
            tokio::join!(
                conversation.ask(outlet, "roots/list", &nothing),
                conversation.ask(outlet, "sampling/createMessage", &sampling),
            );
        }
        _ => {}
    }
    let answer = answer(exchange, incoming).await;
    let mut messages = messages(fault, &answer, incoming.id());
    let last = messages.pop().unwrap_or_default();
    for message in messages {
        exchange.outlet.notice(message).await;
    }
    exchange.outlet.finish(last, None).await;
}

fn messages(fault: &Fault, answer: &RpcAnswer, id: &Value) -> Vec<String> {
    let right = answer.render(id);
    let member = answer.member();
    let wrong = RpcAnswer::refuse(-32603, "this also happened").member();
    match fault.name {
        "notification-flood" | "ask-during-call" => vec![right],
        "unknown-id" => vec![answer.render(&json!("nobody-asked")), right],
        "string-id" => vec![answer.render(&other_type(id))],
        "duplicate" => {
            let second = json!({"content": [{"type": "text", "text": "a second answer"}]});
            vec![right, RpcAnswer::Result(second).render(id)]
        }
        "both-result-and-error" => {
            vec![format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},{member},{wrong}}}")]
        }
        "neither" => vec![format!("{{\"jsonrpc\":\"2.0\",\"id\":{id}}}")],
        "no-jsonrpc" => vec![format!("{{\"id\":{id},{member}}}")],
        "error-null" => {
            vec![format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":null,{member}}}")]
        }
        "batch-answer" => vec![format!("[{right}]")],
        "huge-error" => {
            let data = json!({"trace": "x".repeat(fault.bytes.unwrap_or(HUGE_BYTES)), "nested": nested_value(60)});
            let message = "everything is on fire".to_owned();
            vec![RpcAnswer::Refusal { code: -32000, message, data: Some(data) }.render(id)]
        }
        other => panic!("the fault `{other}` is not one of an envelope"),
    }
}

/// The same id in another JSON type: `1` becomes `"1"`, `"1"` becomes `1`, `"a"` becomes `["a"]`.
fn other_type(id: &Value) -> Value {
    match id {
        Value::String(text) => text.parse::<i64>().map_or_else(|_| json!([text]), |id| json!(id)),
        other => json!(other.to_string()),
    }
}

fn nested_value(depth: usize) -> Value {
    (0..depth).fold(json!("bottom"), |inner, _| json!({ "cause": inner }))
}

async fn flood(exchange: &Exchange, count: usize) {
    for number in 0..count {
        let params = json!({"level": "info", "logger": "flood", "data": number});
        exchange.outlet.notice(message::notice("notifications/message", &params)).await;
    }
}
