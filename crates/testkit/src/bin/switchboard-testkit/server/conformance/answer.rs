//! Gives each method the answer that the suite expects.

use serde_json::{Value, json};

use super::super::message_era::MessageEra;
use super::super::pages;
use super::super::state::{Exchange, FixtureServer};
use super::{changes, listen, offers, plain, prompts, rounds, tools};
use crate::message::{INVALID_PARAMS, IncomingMessage, MODERN, RpcAnswer};
use crate::options::ServerKind;

/// Nothing for methods that every fixture answers alike.
pub(crate) async fn answer(
    exchange: &Exchange,
    incoming: &IncomingMessage,
    spoken: &MessageEra,
) -> Option<RpcAnswer> {
    let server = &exchange.server;
    let client = &exchange.conversation;
    let legacy = matches!(spoken, MessageEra::Legacy(_));
    let page =
        |key: &str, items: Vec<Value>| pages::page(key, items, server.options.page_size, incoming);
    Some(match incoming.method.as_str() {
        "tools/list" => page("tools", tools::definitions(server.grown())),
        "tools/call" => call(exchange, incoming, spoken).await,
        "resources/list" => page("resources", offers::resources()),
        "resources/templates/list" => page("resourceTemplates", offers::templates()),
        "resources/read" => offers::read(incoming.text("uri").unwrap_or_default(), spoken),
        "server/discover" if !legacy => RpcAnswer::Result(
            json!({"supportedVersions": [MODERN], "capabilities": capabilities()}),
        ),
        "subscriptions/listen" if !legacy => listen::listen(exchange, incoming).await,
        "resources/subscribe" if legacy => {
            changes::subscribe(client, incoming.text("uri").unwrap_or_default());
            RpcAnswer::Result(json!({}))
        }
        "resources/unsubscribe" if legacy => {
            changes::unsubscribe(client, incoming.text("uri").unwrap_or_default());
            RpcAnswer::Result(json!({}))
        }
        "prompts/list" => page("prompts", prompts::definitions(changes::prompts())),
        "prompts/get" => prompts::get(exchange, incoming, spoken).await,
        "logging/setLevel" if legacy => {
            changes::set_level(client, incoming.text("level").unwrap_or("debug"));
            RpcAnswer::Result(json!({}))
        }
        _ => return None,
    })
}

async fn call(exchange: &Exchange, incoming: &IncomingMessage, spoken: &MessageEra) -> RpcAnswer {
    let name = incoming.text("name").unwrap_or_default();
    if let Some(rounds) = rounds::rounds_for_tool(name, incoming, spoken) {
        return match rounds {
            Ok(rounds) => rounds.run(exchange, incoming, spoken).await,
            Err(refusal) => refusal,
        };
    }
    match plain::run(exchange, name, incoming, spoken).await {
        Some(answer) => answer,
        None => RpcAnswer::refuse(INVALID_PARAMS, format!("unknown tool `{name}`")),
    }
}

/// What this server can do, in place of what fixtures can do otherwise.
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
