//! Faults in the JSON-RPC message around a result and inside the result, on any transport.

use serde_json::{Value, json};

use super::Fault;
use crate::message::{IncomingMessage, RpcAnswer};
use crate::server::{Exchange, answer};

const HUGE_BYTES: usize = 2 * 1024 * 1024;

pub(crate) async fn strike_envelope(
    exchange: &Exchange,
    fault: &Fault,
    incoming: &IncomingMessage,
) {
    match fault.name.as_str() {
        "notification-flood" => flood(exchange, fault.options.count).await,
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
    match fault.name.as_str() {
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
            let data = json!({"trace": "x".repeat(fault.options.bytes.unwrap_or(HUGE_BYTES)), "nested": nested_value(60)});
            let message = "everything is on fire".to_owned();
            vec![RpcAnswer::Refusal { code: -32000, message, data: Some(data) }.render(id)]
        }
        other => panic!("the fault `{other}` is not one of an envelope"),
    }
}

/// Changes the JSON type of an id: `1` becomes `"1"`, `"1"` becomes `1`, `"a"` becomes `["a"]`.
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
        exchange.notify("notifications/message", &params).await;
    }
}

/// A result as text, because `Value` cannot hold these numbers or this order of keys.
const UNKNOWN_FIELDS: &str = concat!(
    r#"{"zebra":1,"structuredContent":{"z":18446744073709551616,"y":-9223372036854775809,"#,
    r#""x":1e400,"w":0.1000000000000000055511151231257827,"v":1.0,"u":-0,"a":[]},"#,
    r#""content":[{"flavour":"sweet","text":"Known text.","type":"text","_meta":{"vendor/x":[1e400]},"#,
    r#""annotations":{"audience":["martian"],"priority":7,"mood":"good"}}],"#,
    r#""isError":false,"_meta":{"vendor/key":{"deep":[null,true]}},"apple":{"unknown":"field"}}"#,
);

pub(crate) async fn strike_shape(exchange: &Exchange, fault: &Fault, incoming: &IncomingMessage) {
    let answer = match answer(exchange, incoming).await {
        RpcAnswer::Result(result) => bend(fault, result),
        refusal => refusal,
    };
    exchange.outlet.finish(answer.render(incoming.id()), answer.code()).await;
}

fn bend(fault: &Fault, mut result: Value) -> RpcAnswer {
    match fault.name.as_str() {
        "bad-tool" => {
            if let Some(tools) = result["tools"].as_array_mut() {
                tools.insert(1, json!({"name": "no_schema", "description": "Has no schema."}));
                tools.insert(2, json!(42));
                let nameless =
                    json!({"inputSchema": {"type": "object"}, "description": "Nameless."});
                tools.insert(3, nameless);
            }
        }
        "bare-initialize" => {
            if let Some(object) = result.as_object_mut() {
                object.remove("capabilities");
                object.insert("serverInfo".to_owned(), json!({"name": "bare"}));
            }
        }
        "odd-content" => {
            result["content"] = json!([
                {"type": "hologram", "beam": {"colour": "green"}},
                {"type": "image", "data": "iVBORw0KGgo="},
                {"type": "text", "text": "The text beside them."},
                {"type": "text"},
                {"text": "Of no type."},
            ]);
        }
        "extra-keys" => {
            result["tools"] = json!([]);
            result["messages"] = json!([]);
            result["prompts"] = json!([]);
            result["contents"] = json!([]);
        }
        "unknown-fields" => return RpcAnswer::Text(UNKNOWN_FIELDS.to_owned()),
        other => panic!("the fault `{other}` is not one of a shape"),
    }
    RpcAnswer::Result(result)
}
