//! A tool that needs an answer from a person: an elicitation before 2026-07-28, a round after.

use serde_json::{Value, json};

use super::Exchange;
use super::content;
use super::message_era::MessageEra;
use crate::message::IncomingMessage;

const STATE: &str = "the question was asked";

pub(crate) async fn ask(
    exchange: &Exchange,
    incoming: &IncomingMessage,
    spoken: &MessageEra,
) -> Value {
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
    let reply = exchange.conversation.ask(&exchange.outlet, "elicitation/create", &params).await;
    match reply.get("result") {
        Some(result) => reply_value(result),
        None => content::failure(format!("the question was refused: {}", reply["error"])),
    }
}

fn reply_value(reply: &Value) -> Value {
    match (reply["action"].as_str(), reply["content"]["answer"].as_str()) {
        (Some("accept"), Some(answer)) => content::text(answer),
        (action, _) => content::text(format!("no answer: {}", action.unwrap_or("no action"))),
    }
}
