//! Gives each method its answer.

use serde_json::{Value, json};

use super::speech::{self, Speech};
use super::{
    Exchange, examples, given, hostile, listen, offers, overlay, pages, run, tasks, tools, visit,
};
use crate::message::{Answer, INVALID_PARAMS, Incoming, METHOD_NOT_FOUND};
use crate::options::Kind;
use crate::server::conformance;

/// The answer a well-behaved server gives to a request.
pub(crate) async fn answer(exchange: &Exchange, incoming: &Incoming) -> Answer {
    // A modern client that says `initialize` asks for a method that its era does not have.
    if incoming.method == "initialize" && incoming.version().is_none() {
        let greeting = speech::initialize(exchange, incoming);
        if exchange.server.options.kind == Kind::Given {
            return given::introduced(&exchange.server.options, greeting);
        }
        let greeting = overlay::apply(&exchange.server, &incoming.method, greeting);
        return conformance::introduced(&exchange.server, greeting);
    }
    let spoken = match speech::speech(exchange, incoming) {
        Ok(spoken) => spoken,
        Err(refusal) => return refusal,
    };
    let answer = result(exchange, incoming, &spoken).await;
    match overlay::apply(&exchange.server, &incoming.method, answer) {
        Answer::Result(result) => {
            let kind = exchange.server.options.kind;
            Answer::Result(speech::stamp(&spoken, kind, &incoming.method, result))
        }
        other => other,
    }
}

async fn result(exchange: &Exchange, incoming: &Incoming, spoken: &Speech) -> Answer {
    let server = &exchange.server;
    if server.options.kind == Kind::Conformance
        && let Some(answer) = conformance::answer(exchange, incoming, spoken).await
    {
        return answer;
    }
    if server.options.kind == Kind::Given
        && let Some(answer) = given::answer(exchange, incoming).await
    {
        return answer;
    }
    let legacy = matches!(spoken, Speech::Legacy(_));
    match incoming.method.as_str() {
        "server/discover" if !legacy => {
            let answer = Answer::Result(speech::discover(&server.options));
            if server.options.kind == Kind::Given {
                given::introduced(&server.options, answer)
            } else {
                answer
            }
        }
        "subscriptions/listen" if !legacy => listen::listen(exchange, incoming).await,
        "ping" | "logging/setLevel" if legacy => Answer::Result(json!({})),
        "tools/list" if server.options.kind == Kind::Hostile => hostile::list(server, incoming),
        "tools/list" => list(exchange, incoming, "tools", tools::definitions(server, spoken)),
        "tools/call" if server.options.tasks => match long(exchange, incoming, spoken).await {
            Some(answer) => answer,
            None => run::call(exchange, incoming, spoken).await,
        },
        method if server.options.tasks && method.starts_with("tasks/") => {
            tasks::answer(exchange, incoming, spoken).await
        }
        "tools/call" => run::call(exchange, incoming, spoken).await,
        // The rest belongs to servers that offer more than tools.
        _ if examples::offer(server.options.kind).is_some() => {
            Answer::refuse(METHOD_NOT_FOUND, "Method not found")
        }
        "resources/subscribe" | "resources/unsubscribe"
            if legacy && server.options.kind == Kind::Asker =>
        {
            let uri = incoming.text("uri").unwrap_or_default();
            match incoming.method.as_str() {
                "resources/subscribe" => exchange.conversation.subscribe(uri),
                _ => exchange.conversation.unsubscribe(uri),
            }
            Answer::Result(json!({}))
        }
        "resources/list" => list(exchange, incoming, "resources", offers::resources()),
        "resources/templates/list" => {
            list(exchange, incoming, "resourceTemplates", offers::templates())
        }
        "resources/read" => match incoming.text("uri") {
            Some(uri) => offers::read(uri, spoken),
            None => Answer::refuse(INVALID_PARAMS, "`uri` is missing"),
        },
        "prompts/list" => list(exchange, incoming, "prompts", offers::prompts()),
        "prompts/get" => offers::prompt(incoming),
        "completion/complete" => offers::complete(incoming),
        _ => Answer::refuse(METHOD_NOT_FOUND, "Method not found"),
    }
}

/// The tools that are there only when they are wanted.
async fn long(exchange: &Exchange, incoming: &Incoming, spoken: &Speech) -> Option<Answer> {
    match visit::call(exchange, incoming).await {
        Some(answer) => Some(answer),
        None => tasks::call(exchange, incoming, spoken).await,
    }
}

fn list(exchange: &Exchange, incoming: &Incoming, key: &str, items: Vec<Value>) -> Answer {
    pages::page(key, items, exchange.server.options.page_size, incoming)
}
