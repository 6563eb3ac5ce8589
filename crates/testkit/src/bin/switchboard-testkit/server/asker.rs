//! A server that sends requests and notifications: sampling, roots, elicitation, messages, changes.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::message_era::MessageEra;
use super::{Exchange, ServerCall, content};
use crate::exchange::ChangeNotice;
use crate::message::{self, INVALID_PARAMS, IncomingMessage, RpcAnswer};

pub(crate) fn definitions() -> Vec<Value> {
    let tool = |name: &str, description: &str, properties: Value| {
        content::tool(name, description, &properties, &[])
    };
    let request = json!({"request": {"type": "object"}, "times": {"type": "integer"}});
    vec![
        tool("sample", "Asks a model, as often as wanted, and answers with all replies.", request),
        tool("folders", "Asks for the roots and answers with them.", json!({})),
        tool("withdraw", "Asks a person and takes the question back.", json!({})),
        tool(
            "many",
            "Asks so many questions at once and counts those refused.",
            json!({"count": {"type": "integer"}}),
        ),
        tool("ping", "Pings the client and answers with its reply.", json!({})),
        tool(
            "say",
            "Says something to whoever listens.",
            json!({"level": {"type": "string"}, "text": {"type": "string"},
                "times": {"type": "integer"}}),
        ),
        tool("touch", "Says that a resource has changed.", json!({"uri": {"type": "string"}})),
        tool("complete", "Says that an address was visited.", json!({"id": {"type": "string"}})),
    ]
}

pub(crate) async fn call(call: &ServerCall<'_>) -> RpcAnswer {
    let ServerCall { exchange, incoming, spoken } = *call;
    let arguments = incoming.arguments();
    let text = |name: &str| arguments[name].as_str().unwrap_or_default().to_owned();
    RpcAnswer::Result(match incoming.text("name").unwrap_or_default() {
        "sample" if *spoken == MessageEra::Modern => sample_in_rounds(incoming),
        "sample" => sample(exchange, arguments).await,
        "folders" => content::text(exchange.ask("roots/list", &json!({})).await.to_string()),
        "ping" => content::text(exchange.ask("ping", &json!({})).await.to_string()),
        "withdraw" => withdraw(exchange).await,
        "many" => many(exchange, arguments["count"].as_u64().unwrap_or(1)).await,
        "say" => {
            let said = json!({"level": text("level"), "logger": "asker", "data": text("text")});
            for _ in 0..arguments["times"].as_u64().unwrap_or(1) {
                exchange.notify("notifications/message", &said).await;
            }
            content::text("said")
        }
        "touch" => {
            exchange.server.announce(ChangeNotice::Resource(text("uri")));
            content::text("touched")
        }
        "complete" => {
            let done = json!({"elicitationId": text("id")});
            exchange.notify("notifications/elicitation/complete", &done).await;
            content::text("told")
        }
        other => return RpcAnswer::refuse(INVALID_PARAMS, format!("unknown tool `{other}`")),
    })
}

async fn sample(exchange: &Exchange, arguments: &Value) -> Value {
    let mut replies = Vec::new();
    for _ in 0..arguments["times"].as_u64().unwrap_or(1) {
        replies.push(exchange.ask("sampling/createMessage", &arguments["request"]).await);
    }
    content::text(json!(replies).to_string())
}

/// Asks for one reply per round; `requestState` holds all earlier replies.
fn sample_in_rounds(incoming: &IncomingMessage) -> Value {
    let arguments = incoming.arguments();
    let state = incoming.text("requestState").unwrap_or("[]");
    let mut replies: Vec<Value> = serde_json::from_str(state).unwrap_or_default();
    if let Some(reply) = incoming.params.pointer("/inputResponses/sample") {
        replies.push(reply.clone());
    }
    let wanted = usize::try_from(arguments["times"].as_u64().unwrap_or(1)).unwrap_or(1);
    if replies.len() >= wanted {
        return content::text(json!(replies).to_string());
    }
    let params = &arguments["request"];
    json!({
        "resultType": "input_required",
        "inputRequests": {"sample": {"method": "sampling/createMessage", "params": params}},
        "requestState": json!(replies).to_string(),
    })
}

fn form(message: &str) -> Value {
    let schema = json!({"type": "object", "properties": {"answer": {"type": "string"}}});
    json!({"message": message, "requestedSchema": schema})
}

/// Sends an elicitation and cancels it once the client has had time to show it.
async fn withdraw(exchange: &Exchange) -> Value {
    let id = json!("to-be-withdrawn");
    let question = message::question(&id, "elicitation/create", &form("Still there?"));
    exchange.outlet.notice(question).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    let cancelled = json!({"requestId": id, "reason": "no longer needed"});
    exchange.notify("notifications/cancelled", &cancelled).await;
    // Long enough for a reply to arrive, if the client were to send one.
    tokio::time::sleep(Duration::from_millis(500)).await;
    content::text("withdrawn")
}

/// Sends all elicitations at once, and counts the refusals within a second.
async fn many(exchange: &Exchange, count: u64) -> Value {
    let mut open = JoinSet::new();
    for number in 0..count {
        let exchange = exchange.clone();
        let question = form(&format!("Number {number}?"));
        open.spawn(async move { exchange.ask("elicitation/create", &question).await });
    }
    let mut refused = 0;
    let counting = async {
        while let Some(reply) = open.join_next().await {
            refused += u64::from(reply.is_ok_and(|reply| reply.get("code").is_some()));
        }
    };
    // Those that are not refused wait for a user, who never answers.
    let _ = tokio::time::timeout(Duration::from_secs(1), counting).await;
    content::text(format!("{refused} refused"))
}

const STATE: &str = "the question was asked";

pub(crate) async fn ask(call: &ServerCall<'_>) -> Value {
    let ServerCall { exchange, incoming, spoken } = *call;
    let Some(question) = incoming.arguments().get("question").and_then(Value::as_str) else {
        return content::failure("the argument `question` does not fit");
    };
    let mut params = json!({
        "message": question,
        "requestedSchema": {
            "type": "object",
            "properties": {"answer": {"type": "string"}},
            "required": ["answer"],
        },
    });
    if *spoken == MessageEra::Modern {
        let Some(responses) = incoming.params.get("inputResponses") else {
            params["mode"] = json!("form");
            return json!({
                "resultType": "input_required",
                "inputRequests": {"answer": {"method": "elicitation/create", "params": params}},
                "requestState": STATE,
            });
        };
        if incoming.text("requestState") != Some(STATE) {
            return content::failure("`requestState` did not come back as it was sent");
        }
        return reply_value(&responses["answer"]);
    }
    let reply = exchange.ask("elicitation/create", &params).await;
    if reply.get("code").is_some() {
        return content::failure(format!("the question was refused: {reply}"));
    }
    reply_value(&reply)
}

fn reply_value(reply: &Value) -> Value {
    match (reply["action"].as_str(), reply["content"]["answer"].as_str()) {
        (Some("accept"), Some(answer)) => content::text(answer),
        (action, _) => content::text(format!("no answer: {}", action.unwrap_or("no action"))),
    }
}
