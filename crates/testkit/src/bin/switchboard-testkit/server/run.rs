//! Routes `tools/call` to the tools of a server, and runs those of the echo server.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use super::message_era::MessageEra;
use super::{Exchange, ServerCall, asker, content, examples, hostile, journaled};
use crate::journal;
use crate::message::{INVALID_PARAMS, IncomingMessage, RpcAnswer};
use crate::options::ServerKind;

pub(crate) async fn call(call: &ServerCall<'_>) -> RpcAnswer {
    let ServerCall { exchange, incoming, .. } = *call;
    let Some(name) = incoming.text("name") else {
        return RpcAnswer::refuse(INVALID_PARAMS, "`name` is missing");
    };
    let kind = exchange.server.options.kind;
    match kind {
        ServerKind::Hostile => return hostile::call(name),
        ServerKind::Journal => return journaled::call(exchange, incoming).await,
        ServerKind::Asker => return asker::call(call).await,
        _ => {}
    }
    let example = examples::offer(kind).is_some();
    if name == "ask" && !example {
        return RpcAnswer::Result(asker::ask(call).await);
    }
    let result = if kind == ServerKind::Protected {
        examples::run_protected(name, incoming)
    } else if example {
        examples::run(&exchange.server, name, incoming.arguments())
    } else {
        run(call, name).await
    };
    match result {
        Some(Ok(result)) => RpcAnswer::Result(result),
        // Invalid arguments are a result that the model can read, not a protocol error.
        Some(Err(missing)) => {
            RpcAnswer::Result(content::failure(format!("the argument `{missing}` does not fit")))
        }
        None => RpcAnswer::refuse(INVALID_PARAMS, format!("unknown tool `{name}`")),
    }
}

/// Runs a tool. `None` for an unknown tool; `Err` with the name of an invalid argument.
async fn run(call: &ServerCall<'_>, name: &str) -> Option<Result<Value, &'static str>> {
    let ServerCall { exchange, incoming, spoken } = *call;
    let arguments = incoming.arguments();
    let server = &exchange.server;
    Some(match name {
        "echo" => text(arguments, "text").map(content::text),
        "add" => add(arguments, spoken),
        "fail" => text(arguments, "message").map(content::failure),
        "slow" => slow(exchange, incoming).await,
        "content" => {
            let mut result = json!({ "content": content::every_kind(spoken) });
            if spoken.has("2025-06-18") {
                result["structuredContent"] = json!({"kinds": 6, "complete": true});
            }
            Ok(result)
        }
        "big" => number(arguments, "bytes").map(|bytes| {
            content::text("abcdefghij".chars().cycle().take(bytes).collect::<String>())
        }),
        "environment" => {
            let variables: BTreeMap<String, String> = std::env::vars_os()
                .map(|(name, value)| {
                    (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned())
                })
                .collect();
            Ok(content::text(json!(variables).to_string()))
        }
        "write" => text(arguments, "key").map(|key| {
            server.journal.line(&format!("write {key}"));
            content::text(format!("wrote {key}"))
        }),
        "pid" => {
            let group = crate::system::process_group();
            Ok(content::structured_result(
                &json!({"pid": std::process::id(), "group": group}),
                spoken,
            ))
        }
        "grow" => Ok(content::text(format!("grown_{}", server.grow()))),
        other if is_generated(other, exchange) => {
            Ok(content::text(format!("{other} {}", journal::plain(arguments))))
        }
        _ => return None,
    })
}

fn is_generated(name: &str, exchange: &Exchange) -> bool {
    let within = |prefix: &str, count: usize| {
        let number = name.strip_prefix(prefix).and_then(|digits| digits.parse::<usize>().ok());
        number.is_some_and(|number| (1..=count).contains(&number))
    };
    within("tool_", exchange.server.options.tools) || within("grown_", exchange.server.grown())
}

fn text(arguments: &Value, name: &'static str) -> Result<String, &'static str> {
    arguments.get(name).and_then(Value::as_str).map(str::to_owned).ok_or(name)
}

fn number(arguments: &Value, name: &'static str) -> Result<usize, &'static str> {
    let number = arguments.get(name).and_then(Value::as_u64);
    number.and_then(|number| usize::try_from(number).ok()).ok_or(name)
}

fn add(arguments: &Value, spoken: &MessageEra) -> Result<Value, &'static str> {
    let a = arguments.get("a").ok_or("a")?;
    let b = arguments.get("b").ok_or("b")?;
    let whole = a.as_i64().zip(b.as_i64()).and_then(|(a, b)| a.checked_add(b));
    let sum = match whole {
        Some(sum) => json!(sum),
        None => json!(a.as_f64().ok_or("a")? + b.as_f64().ok_or("b")?),
    };
    Ok(content::structured_result(&json!({ "sum": sum }), spoken))
}

async fn slow(exchange: &Exchange, incoming: &IncomingMessage) -> Result<Value, &'static str> {
    let arguments = incoming.arguments();
    let whole = Duration::from_millis(number(arguments, "ms")? as u64);
    let steps = u32::try_from(number(arguments, "steps").unwrap_or(4)).unwrap_or(4).max(1);
    for step in 1..=steps {
        tokio::time::sleep(whole / steps).await;
        let mut progress = json!({"progress": step, "total": steps});
        if let Some(words) = arguments.get("words").and_then(Value::as_str) {
            progress["message"] = json!(format!("{words} {step}"));
        }
        exchange.report(incoming, progress).await;
    }
    Ok(content::text(format!("slept {} ms", whole.as_millis())))
}
