//! Gives each method the answer that the suite expects.

use serde_json::{Value, json};

use super::super::pages;
use super::super::speech::Speech;
use super::super::state::{Exchange, Server};
use super::{listen, news, offers, plain, prompts, rounds, tools};
use crate::message::{Answer, INVALID_PARAMS, Incoming, MODERN};
use crate::options::Kind;

/// Nothing for methods that every fixture answers alike.
pub(crate) async fn answer(
    exchange: &Exchange,
    incoming: &Incoming,
    spoken: &Speech,
) -> Option<Answer> {
    let (server, client) = (&exchange.server, &exchange.conversation);
    let legacy = matches!(spoken, Speech::Legacy(_));
    let page =
        |key: &str, items: Vec<Value>| pages::page(key, items, server.options.page_size, incoming);
    Some(match incoming.method.as_str() {
        "tools/list" => page("tools", tools::definitions(server.grown())),
        "tools/call" => call(exchange, incoming, spoken).await,
        "resources/list" => page("resources", offers::resources()),
        "resources/templates/list" => page("resourceTemplates", offers::templates()),
        "resources/read" => offers::read(incoming.text("uri").unwrap_or_default(), spoken),
        "server/discover" if !legacy => {
            Answer::Result(json!({"supportedVersions": [MODERN], "capabilities": capabilities()}))
        }
        "subscriptions/listen" if !legacy => listen::listen(exchange, incoming).await,
        "resources/subscribe" if legacy => {
            news::subscribe(client, incoming.text("uri").unwrap_or_default());
            Answer::Result(json!({}))
        }
        "resources/unsubscribe" if legacy => {
            news::unsubscribe(client, incoming.text("uri").unwrap_or_default());
            Answer::Result(json!({}))
        }
        "prompts/list" => page("prompts", prompts::definitions(news::prompts())),
        "prompts/get" => prompts::get(exchange, incoming, spoken).await,
        "logging/setLevel" if legacy => {
            news::set_level(client, incoming.text("level").unwrap_or("debug"));
            Answer::Result(json!({}))
        }
        _ => return None,
    })
}

async fn call(exchange: &Exchange, incoming: &Incoming, spoken: &Speech) -> Answer {
    let name = incoming.text("name").unwrap_or_default();
    if let Some(rounds) = rounds::of_tool(name, incoming, spoken) {
        return match rounds {
            Ok(rounds) => rounds.run(exchange, incoming, spoken).await,
            Err(refusal) => refusal,
        };
    }
    match plain::run(exchange, name, incoming, spoken).await {
        Some(answer) => answer,
        None => Answer::refuse(INVALID_PARAMS, format!("unknown tool `{name}`")),
    }
}

/// What this server can do, in place of what fixtures can do otherwise.
pub(crate) fn introduced(server: &Server, answer: Answer) -> Answer {
    match answer {
        Answer::Result(mut result) if server.options.kind == Kind::Conformance => {
            result["capabilities"] = capabilities();
            Answer::Result(result)
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
