//! Tools that answer without a request to the client.

use std::time::Duration;

use serde_json::{Value, json};

use super::super::content;
use super::super::message_era::MessageEra;
use super::super::state::{Exchange, ServerCall};
use super::answer;
use crate::exchange::ChangeNotice;
use crate::message::{INVALID_PARAMS, IncomingMessage, RpcAnswer};

const STEP: Duration = Duration::from_millis(50);
const LEVELS: [&str; 8] =
    ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/// Runs a tool; `None` if it is unknown.
pub(super) async fn run(call: &ServerCall<'_>, name: &str) -> Option<RpcAnswer> {
    let ServerCall { exchange, incoming, .. } = *call;
    let server = &exchange.server;
    let arguments = incoming.arguments();
    Some(RpcAnswer::Result(match name {
        "test_simple_text" => content::text("This is a simple text response for testing."),
        "test_image_content" => json!({"content": [answer::image()]}),
        "test_audio_content" => json!({"content": [answer::sound()]}),
        "test_embedded_resource" => json!({"content": [answer::embedded_resource()]}),
        "test_multiple_content_types" => json!({"content": [
            {"type": "text", "text": "Multiple content types test:"},
            answer::image(),
            answer::embedded_resource(),
        ]}),
        "test_error_handling" => {
            content::failure("This tool intentionally returns an error for testing")
        }
        "test_tool_with_logging" | "test_logging_tool" => logging(call).await,
        "test_tool_with_progress" => progress(exchange, incoming).await,
        "test_trigger_tool_change" => content::text(format!("grown_{}", server.grow())),
        "test_trigger_prompt_change" => {
            content::text(format!("grown_prompt_{}", server.add_prompt()))
        }
        "json_schema_2020_12_tool" | "test_custom_header" => content::text(arguments.to_string()),
        "touch" => {
            server.announce(ChangeNotice::Resource(answer::WATCHED.to_owned()));
            content::text("touched")
        }
        "raw" => return Some(raw(arguments)),
        "refuse" => return Some(refuse(arguments)),
        other if is_grown(other, server.grown()) => content::text(other),
        _ => return None,
    }))
}

fn is_grown(name: &str, count: usize) -> bool {
    let number = name.strip_prefix("grown_").and_then(|digits| digits.parse::<usize>().ok());
    number.is_some_and(|number| (1..=count).contains(&number))
}

/// Answers with the argument `result`, unchanged.
fn raw(arguments: &Value) -> RpcAnswer {
    match arguments["result"].as_str() {
        Some(text) => RpcAnswer::Text(text.to_owned()),
        None => RpcAnswer::refuse(INVALID_PARAMS, "`result` is missing"),
    }
}

fn refuse(arguments: &Value) -> RpcAnswer {
    RpcAnswer::Refusal {
        code: arguments["code"].as_i64().unwrap_or(INVALID_PARAMS),
        message: arguments["message"].as_str().unwrap_or_default().to_owned(),
        data: arguments.get("data").cloned(),
    }
}

async fn logging(call: &ServerCall<'_>) -> Value {
    let ServerCall { exchange, incoming, spoken } = *call;
    let least = match spoken {
        // Without a level in the request, a modern client gets no messages.
        MessageEra::Modern => incoming
            .meta("io.modelcontextprotocol/logLevel")
            .map(|level| level.as_str().unwrap_or("debug").to_owned()),
        MessageEra::Legacy(_) => {
            let level = exchange.conversation.level.lock();
            Some(level.clone().unwrap_or_else(|| "debug".to_owned()))
        }
    };
    let place = |level: &str| LEVELS.iter().position(|known| *known == level).unwrap_or(0);
    let wanted = least.is_some_and(|least| place("info") >= place(&least));
    let steps = ["Tool execution started", "Tool processing data", "Tool execution completed"];
    for (number, step) in steps.into_iter().enumerate() {
        if number > 0 {
            tokio::time::sleep(STEP).await;
        }
        if wanted {
            let params = json!({"level": "info", "logger": "conformance", "data": step});
            exchange.notify("notifications/message", &params).await;
        }
    }
    content::text("Tool with logging executed")
}

async fn progress(exchange: &Exchange, incoming: &IncomingMessage) -> Value {
    for (number, done) in [0, 50, 100].into_iter().enumerate() {
        if number > 0 {
            tokio::time::sleep(STEP).await;
        }
        exchange.report(incoming, json!({"progress": done, "total": 100})).await;
    }
    content::text("Tool with progress executed")
}
