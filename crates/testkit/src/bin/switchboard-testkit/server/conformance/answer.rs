//! Answers each method as the suite expects.

use serde_json::{Value, json};

use super::super::message_era::MessageEra;
use super::super::state::{FixtureServer, ServerCall};
use super::super::{content, lists, offers};
use super::rounds::{Rounds, form};
use super::{plain, rounds, tools};
use crate::message::{INVALID_PARAMS, MODERN, RpcAnswer};
use crate::options::ServerKind;

/// Answers a request; `None` for methods that all fixtures answer in the same way.
pub(crate) async fn answer(call: &ServerCall<'_>) -> Option<RpcAnswer> {
    let ServerCall { exchange, incoming, spoken } = *call;
    let server = &exchange.server;
    let client = &exchange.conversation;
    let legacy = matches!(spoken, MessageEra::Legacy(_));
    let page =
        |key: &str, items: Vec<Value>| lists::page(key, items, server.options.page_size, incoming);
    Some(match incoming.method.as_str() {
        "tools/list" => page("tools", tools::definitions(server.grown())),
        "tools/call" => call_tool(call).await,
        "resources/list" => page("resources", resources()),
        "resources/templates/list" => page("resourceTemplates", templates()),
        "resources/read" => read(incoming.text("uri").unwrap_or_default(), spoken),
        "server/discover" if !legacy => RpcAnswer::Result(
            json!({"supportedVersions": [MODERN], "capabilities": capabilities()}),
        ),
        "subscriptions/listen" if !legacy => lists::listen(exchange, incoming).await,
        "resources/subscribe" if legacy => {
            client.subscribe(incoming.text("uri").unwrap_or_default());
            RpcAnswer::Result(json!({}))
        }
        "resources/unsubscribe" if legacy => {
            client.unsubscribe(incoming.text("uri").unwrap_or_default());
            RpcAnswer::Result(json!({}))
        }
        "prompts/list" => page("prompts", prompt_definitions(server.prompts())),
        "prompts/get" => get_prompt(call).await,
        "logging/setLevel" if legacy => {
            let level = incoming.text("level").unwrap_or("debug");
            *client.level.lock() = Some(level.to_owned());
            RpcAnswer::Result(json!({}))
        }
        _ => return None,
    })
}

async fn call_tool(call: &ServerCall<'_>) -> RpcAnswer {
    let ServerCall { incoming, spoken, .. } = *call;
    let name = incoming.text("name").unwrap_or_default();
    if let Some(rounds) = rounds::rounds_for_tool(name, incoming, spoken) {
        return match rounds {
            Ok(rounds) => rounds.run(call).await,
            Err(refusal) => refusal,
        };
    }
    match plain::run(call, name).await {
        Some(answer) => answer,
        None => RpcAnswer::refuse(INVALID_PARAMS, format!("unknown tool `{name}`")),
    }
}

/// Replaces the capabilities in the answer by those of this server.
pub(crate) fn with_capabilities(server: &FixtureServer, answer: RpcAnswer) -> RpcAnswer {
    match answer {
        RpcAnswer::Result(mut result) if server.options.kind == ServerKind::Conformance => {
            result["capabilities"] = capabilities();
            RpcAnswer::Result(result)
        }
        other => other,
    }
}

fn capabilities() -> Value {
    json!({
        "tools": {"listChanged": true},
        "resources": {"subscribe": true},
        "prompts": {"listChanged": true},
        "logging": {},
        "completions": {},
    })
}

const ASKING: &str = "test_input_required_result_prompt";

pub(super) fn prompt_definitions(grown: usize) -> Vec<Value> {
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

pub(super) async fn get_prompt(call: &ServerCall<'_>) -> RpcAnswer {
    let incoming = call.incoming;
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
            vec![user(&image()), text("Please analyze the image above.")]
        }
        ASKING => {
            let question = "What context should the prompt use?";
            let ask = form("user_context", question, &tools::text_form("context"));
            let rounds = Rounds::new(ASKING, vec![vec![ask]], answer_message);
            return rounds.run(call).await;
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

pub(super) const WATCHED: &str = "test://watched-resource";

pub(super) fn image() -> Value {
    json!({"type": "image", "data": content::PIXEL, "mimeType": "image/png"})
}

pub(super) fn sound() -> Value {
    json!({"type": "audio", "data": content::SILENCE, "mimeType": "audio/wav"})
}

pub(super) fn embedded_resource() -> Value {
    let resource = json!({
        "uri": "test://embedded-resource",
        "mimeType": "text/plain",
        "text": "This is an embedded resource content.",
    });
    json!({"type": "resource", "resource": resource})
}

pub(super) fn resources() -> Vec<Value> {
    let resource = |uri: &str, description: &str, kind: &str| {
        let name = uri.strip_prefix("test://").unwrap_or(uri);
        json!({"uri": uri, "name": name, "description": description, "mimeType": kind})
    };
    vec![
        resource("test://static-text", "A text that stays.", "text/plain"),
        resource("test://static-binary", "A picture that stays.", "image/png"),
        resource(WATCHED, "A text that can be watched.", "text/plain"),
    ]
}

pub(super) fn templates() -> Vec<Value> {
    vec![json!({
        "uriTemplate": "test://template/{id}/data",
        "name": "template",
        "description": "An object made from its address.",
        "mimeType": "application/json",
    })]
}

pub(super) fn read(uri: &str, spoken: &MessageEra) -> RpcAnswer {
    let inner = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
    let contents = match (uri, inner) {
        ("test://static-text", _) => json!({
            "uri": uri, "mimeType": "text/plain",
            "text": "This is the content of the static text resource.",
        }),
        ("test://static-binary", _) => {
            json!({"uri": uri, "mimeType": "image/png", "blob": content::PIXEL})
        }
        (WATCHED, _) => json!({"uri": uri, "mimeType": "text/plain", "text": "Watched."}),
        (_, Some(id)) if !id.is_empty() => {
            let data = format!("Data for ID: {id}");
            let text = json!({"id": id, "templateTest": true, "data": data}).to_string();
            json!({"uri": uri, "mimeType": "application/json", "text": text})
        }
        _ => return offers::not_found(uri, spoken),
    };
    RpcAnswer::Result(json!({"contents": [contents]}))
}
