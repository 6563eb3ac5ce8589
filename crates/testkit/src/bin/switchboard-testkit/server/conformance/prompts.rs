//! Prompts: with arguments, with content of several kinds, and one that asks first.

use serde_json::{Value, json};

use super::super::message_era::MessageEra;
use super::super::state::Exchange;
use super::rounds::Rounds;
use super::{offers, questions, schemas};
use crate::message::{INVALID_PARAMS, IncomingMessage, RpcAnswer};

const ASKING: &str = "test_input_required_result_prompt";

pub(super) fn definitions(grown: usize) -> Vec<Value> {
    let argument = |name: &str| json!({"name": name, "description": "A text.", "required": true});
    let prompt = |name: &str, arguments: Vec<Value>| {
        let description = format!("A prompt for tests, called {name}.");
        json!({"name": name, "description": description, "arguments": arguments})
    };
    let mut prompts = vec![
        prompt("test_simple_prompt", Vec::new()),
        prompt("test_prompt_with_arguments", vec![argument("arg1"), argument("arg2")]),
        prompt("test_prompt_with_embedded_resource", vec![argument("resourceUri")]),
        prompt("test_prompt_with_image", Vec::new()),
        prompt(ASKING, Vec::new()),
    ];
    let grown = (1..=grown).map(|number| prompt(&format!("grown_prompt_{number}"), Vec::new()));
    prompts.extend(grown);
    prompts
}

pub(super) async fn get(
    exchange: &Exchange,
    incoming: &IncomingMessage,
    spoken: &MessageEra,
) -> RpcAnswer {
    let name = incoming.text("name").unwrap_or_default();
    let said = |key: &str| incoming.arguments()[key].as_str().unwrap_or_default().to_owned();
    let messages = match name {
        "test_simple_prompt" => vec![text("This is a simple prompt for testing.")],
        "test_prompt_with_arguments" => {
            let first = said("arg1");
            let second = said("arg2");
            vec![text(&format!("Prompt with arguments: arg1='{first}', arg2='{second}'"))]
        }
        "test_prompt_with_embedded_resource" => {
            let resource = json!({
                "uri": said("resourceUri"),
                "mimeType": "text/plain",
                "text": "Embedded resource content for testing.",
            });
            let content = json!({"type": "resource", "resource": resource});
            vec![user(&content), text("Please process the embedded resource above.")]
        }
        "test_prompt_with_image" => {
            vec![user(&offers::image()), text("Please analyze the image above.")]
        }
        ASKING => {
            let question = "What context should the prompt use?";
            let ask = questions::form("user_context", question, &schemas::text("context"));
            let rounds = Rounds::new(ASKING, vec![vec![ask]], answer_message);
            return rounds.run(exchange, incoming, spoken).await;
        }
        other if other.starts_with("grown_prompt_") => vec![text(other)],
        other => return RpcAnswer::refuse(INVALID_PARAMS, format!("unknown prompt `{other}`")),
    };
    RpcAnswer::Result(json!({ "messages": messages }))
}

fn answer_message(said: &Value) -> Value {
    json!({"messages": [text(&format!("The answers were {said}"))]})
}

fn user(content: &Value) -> Value {
    json!({"role": "user", "content": content})
}

fn text(text: &str) -> Value {
    user(&json!({"type": "text", "text": text}))
}
