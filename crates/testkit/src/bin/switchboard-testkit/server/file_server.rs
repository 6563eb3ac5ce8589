//! A server whose lists, results and notices come from a file that the test writes.

use std::io::Write as _;

use serde_json::{Value, json};

use super::Exchange;
use crate::message::{INVALID_PARAMS, IncomingMessage, RpcAnswer};
use crate::options::FixtureOptions;

/// Reads the file anew for each request, because a test may change it while the server runs.
fn read_file(options: &FixtureOptions) -> Value {
    let path = options.offers.as_ref().expect("`given` needs `--offers FILE`");
    let text = std::fs::read_to_string(path).expect("the file of `--offers` can be read");
    serde_json::from_str(&text).expect("the file of `--offers` is JSON")
}

/// Replaces the instructions in the answer by those of the file.
pub(crate) fn with_instructions(options: &FixtureOptions, answer: RpcAnswer) -> RpcAnswer {
    match answer {
        RpcAnswer::Result(mut result) => {
            result["instructions"] = read_file(options)["instructions"].clone();
            if result["instructions"].is_null() {
                result.as_object_mut().map(|members| members.remove("instructions"));
            }
            RpcAnswer::Result(result)
        }
        other => other,
    }
}

/// Answers the requests that the file covers; `None` for the others.
pub(crate) async fn answer(exchange: &Exchange, incoming: &IncomingMessage) -> Option<RpcAnswer> {
    let file = read_file(&exchange.server.options);
    let list = |key: &str| {
        Some(RpcAnswer::Result(json!({ key: file[key].as_array().cloned().unwrap_or_default() })))
    };
    match incoming.method.as_str() {
        "tools/list" => list("tools"),
        "prompts/list" => list("prompts"),
        "resources/list" => list("resources"),
        "resources/templates/list" => list("resourceTemplates"),
        "resources/read" => {
            let contents = &file["contents"][incoming.text("uri").unwrap_or_default()];
            contents.is_array().then(|| RpcAnswer::Result(json!({ "contents": contents })))
        }
        "tools/call" => {
            let name = incoming.text("name").unwrap_or_default();
            exchange.server.journal.line(&format!("call {name} {}", incoming.arguments()));
            notices(exchange, incoming, &file["notices"][name]).await;
            Some(match &file["results"][name] {
                Value::Null => RpcAnswer::Result(super::content::text(format!("{name} ran"))),
                refusal if refusal["code"].is_i64() => RpcAnswer::Refusal {
                    code: refusal["code"].as_i64().unwrap_or(INVALID_PARAMS),
                    message: refusal["message"].as_str().unwrap_or_default().to_owned(),
                    data: Some(refusal["data"].clone()),
                },
                result => RpcAnswer::Result(result.clone()),
            })
        }
        _ => None,
    }
}

async fn notices(exchange: &Exchange, incoming: &IncomingMessage, notices: &Value) {
    if let Some(text) = notices["stderr"].as_str() {
        let told = writeln!(std::io::stderr(), "{text}");
        told.expect("standard error takes a line");
    }
    if let Some(said) = notices["progress"].as_str() {
        exchange.report(incoming, json!({"progress": 1, "message": said})).await;
    }
    if let Some(said) = notices["log"].as_str() {
        let log = json!({"level": "error", "data": said});
        exchange.notify("notifications/message", &log).await;
    }
}
