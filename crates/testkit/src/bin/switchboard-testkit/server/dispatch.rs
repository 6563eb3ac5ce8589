//! Dispatches requests by method.

use serde_json::{Value, json};

use super::message_era::{self, MessageEra};
use super::{
    Exchange, ServerCall, examples, file_server, hostile, lists, offers, run, tasks, tools,
};
use crate::message::{INVALID_PARAMS, IncomingMessage, METHOD_NOT_FOUND, RpcAnswer};
use crate::options::ServerKind;
use crate::server::conformance;

/// Answers a request as a well-behaved server does.
pub(crate) async fn answer(exchange: &Exchange, incoming: &IncomingMessage) -> RpcAnswer {
    // An `initialize` with a modern version is an unknown method: the modern era does not have it.
    if incoming.method == "initialize" && incoming.version().is_none() {
        let greeting = message_era::initialize(exchange, incoming);
        if exchange.server.options.kind == ServerKind::Given {
            return file_server::with_instructions(&exchange.server.options, greeting);
        }
        let greeting = lists::overlay(&exchange.server, &incoming.method, greeting);
        return conformance::with_capabilities(&exchange.server, greeting);
    }
    let spoken = match message_era::message_era(exchange, incoming) {
        Ok(spoken) => spoken,
        Err(refusal) => return refusal,
    };
    let answer = result(&ServerCall { exchange, incoming, spoken: &spoken }).await;
    match lists::overlay(&exchange.server, &incoming.method, answer) {
        RpcAnswer::Result(result) => {
            let kind = exchange.server.options.kind;
            RpcAnswer::Result(message_era::stamp(&spoken, kind, &incoming.method, result))
        }
        other => other,
    }
}

async fn result(call: &ServerCall<'_>) -> RpcAnswer {
    let ServerCall { exchange, incoming, spoken } = *call;
    let server = &exchange.server;
    if server.options.kind == ServerKind::Conformance
        && let Some(answer) = conformance::answer(call).await
    {
        return answer;
    }
    if server.options.kind == ServerKind::Given
        && let Some(answer) = file_server::answer(exchange, incoming).await
    {
        return answer;
    }
    let legacy = matches!(spoken, MessageEra::Legacy(_));
    match incoming.method.as_str() {
        "server/discover" if !legacy => {
            let answer = RpcAnswer::Result(message_era::discover(&server.options));
            if server.options.kind == ServerKind::Given {
                file_server::with_instructions(&server.options, answer)
            } else {
                answer
            }
        }
        "subscriptions/listen" if !legacy => lists::listen(exchange, incoming).await,
        "ping" | "logging/setLevel" if legacy => RpcAnswer::Result(json!({})),
        "tools/list" if server.options.kind == ServerKind::Hostile => {
            hostile::list(server, incoming)
        }
        "tools/list" => list(exchange, incoming, "tools", tools::definitions(server, spoken)),
        "tools/call" if server.options.tasks => match long(call).await {
            Some(answer) => answer,
            None => run::call(call).await,
        },
        method if server.options.tasks && method.starts_with("tasks/") => tasks::answer(call).await,
        "tools/call" => run::call(call).await,
        // All other methods belong to servers that offer more than tools.
        _ if examples::offer(server.options.kind).is_some() => {
            RpcAnswer::refuse(METHOD_NOT_FOUND, "Method not found")
        }
        "resources/subscribe" | "resources/unsubscribe"
            if legacy && server.options.kind == ServerKind::Asker =>
        {
            let uri = incoming.text("uri").unwrap_or_default();
            match incoming.method.as_str() {
                "resources/subscribe" => exchange.conversation.subscribe(uri),
                _ => exchange.conversation.unsubscribe(uri),
            }
            RpcAnswer::Result(json!({}))
        }
        "resources/list" => list(exchange, incoming, "resources", offers::resources()),
        "resources/templates/list" => {
            list(exchange, incoming, "resourceTemplates", offers::templates())
        }
        "resources/read" => match incoming.text("uri") {
            Some(uri) => offers::read(uri, spoken),
            None => RpcAnswer::refuse(INVALID_PARAMS, "`uri` is missing"),
        },
        "prompts/list" => list(exchange, incoming, "prompts", offers::prompts()),
        "prompts/get" => offers::prompt(incoming),
        "completion/complete" => offers::complete(incoming),
        _ => RpcAnswer::refuse(METHOD_NOT_FOUND, "Method not found"),
    }
}

/// Calls one of the tools that exist only with `--tasks`.
async fn long(call: &ServerCall<'_>) -> Option<RpcAnswer> {
    match tasks::call_visit(call.exchange, call.incoming).await {
        Some(answer) => Some(answer),
        None => tasks::call(call).await,
    }
}

fn list(
    exchange: &Exchange,
    incoming: &IncomingMessage,
    key: &str,
    items: Vec<Value>,
) -> RpcAnswer {
    lists::page(key, items, exchange.server.options.page_size, incoming)
}
