//! Faults inside a result: odd content, odd lists, odd numbers.

use serde_json::{Value, json};

use super::Fault;
use crate::message::{IncomingMessage, RpcAnswer};
use crate::server::{Exchange, answer};

/// Written by hand because no JSON value holds these numbers or this order of keys.
const UNKNOWN_FIELDS: &str = concat!(
    r#"{"zebra":1,"structuredContent":{"z":18446744073709551616,"y":-9223372036854775809,"#,
    r#""x":1e400,"w":0.1000000000000000055511151231257827,"v":1.0,"u":-0,"a":[]},"#,
    r#""content":[{"flavour":"sweet","text":"Known text.","type":"text","_meta":{"vendor/x":[1e400]},"#,
    r#""annotations":{"audience":["martian"],"priority":7,"mood":"good"}}],"#,
    r#""isError":false,"_meta":{"vendor/key":{"deep":[null,true]}},"apple":{"unknown":"field"}}"#,
);

pub(crate) async fn strike(exchange: &Exchange, fault: &Fault, incoming: &IncomingMessage) {
    let answer = match answer(exchange, incoming).await {
        RpcAnswer::Result(result) => bend(fault, result),
        refusal => refusal,
    };
    exchange.outlet.finish(answer.render(incoming.id()), answer.code()).await;
}

fn bend(fault: &Fault, mut result: Value) -> RpcAnswer {
    match fault.name {
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
