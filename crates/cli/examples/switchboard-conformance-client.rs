//! The client that the official conformance suite drives: the whole host against one address.
//!
//! The suite starts it with the address as the last argument and tells by variables which scenario
//! and which revision it plays.
#![expect(clippy::print_stderr, reason = "the suite keeps what its client says")]

use std::sync::Arc;

use serde_json::{Map, Value, json};
use switchboard_host::config::{Environment, Places};
use switchboard_host::connect::{Answering, Answers, Asking, Status};
use switchboard_host::{Caller, Host, Options, OutcomeKind, ProposedCall, Recording};
use switchboard_wire::{Json, RpcError};

type Failure = Box<dyn std::error::Error>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let url = std::env::args().next_back().ok_or("the address is missing")?;
    let environment = Environment::from_process();
    let revision = environment.variable("MCP_CONFORMANCE_PROTOCOL_VERSION").unwrap_or("2025-11-25");
    let era = if revision >= "2026-07-28" { "modern" } else { "legacy" };
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("config.json");
    let server = json!({"url": url, "type": "http", "era": era, "timeout": 20});
    std::fs::write(&file, json!({"mcpServers": {"suite": server}}).to_string())?;
    let state = folder.path().join("state");
    let places = Places { user: None, project: None, explicit: vec![file], state };
    let context = environment.variable("MCP_CONFORMANCE_CONTEXT").unwrap_or("{}").to_owned();
    let options = Options {
        answers: Arc::new(Defaults),
        record: Recording::Off,
        ..Options::new(places, environment)
    };
    let host = Host::start(options)?;
    host.settled(None).await;
    let outcome = play(&host, &serde_json::from_str(&context).unwrap_or_default()).await;
    host.stop().await;
    outcome
}

/// Calls every tool once, or exactly those that the suite names.
async fn play(host: &Host, context: &Value) -> Result<(), Failure> {
    let lease = host.lease();
    let server = lease.fleet().servers.get("suite").ok_or("the server is gone")?;
    if server.status != Status::Ready {
        return Err(format!("the server is {:?}", server.status).into());
    }
    for fault in &server.offers.faults {
        eprintln!("left out: {fault}");
    }
    let named = context.get("toolCalls").and_then(Value::as_array);
    let calls: Vec<(String, Value)> = match named {
        Some(calls) => calls
            .iter()
            .filter_map(|call| {
                Some((call.get("name")?.as_str()?.to_owned(), call.get("arguments")?.clone()))
            })
            .collect(),
        None => server
            .offers
            .tools
            .iter()
            .map(|tool| {
                (
                    tool.name().to_owned(),
                    sample(tool.definition().input_schema.map(serde_json::value::RawValue::get)),
                )
            })
            .collect(),
    };
    for (tool, arguments) in calls {
        let proposed = ProposedCall::tool("suite", &tool, Json::from(&arguments));
        let record = host.call(&lease, proposed, &Caller::person()).await;
        eprintln!("{tool}: {:?} {:?}", record.outcome.kind, record.outcome.message);
        if !matches!(record.outcome.kind, OutcomeKind::Ok | OutcomeKind::ToolError) {
            return Err(format!("{tool}: {}", record.outcome.kind.as_str()).into());
        }
    }
    Ok(())
}

/// Arguments that fit a schema well enough.
fn sample(schema: Option<&str>) -> Value {
    let schema: Value = schema.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    let required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let names = required.iter().filter_map(Value::as_str);
    let value = |name: &str| {
        let property = schema.get("properties").and_then(|all| all.get(name));
        match property.and_then(|property| property.get("type")).and_then(Value::as_str) {
            Some("integer" | "number") => json!(2),
            Some("boolean") => json!(true),
            Some("array") => json!([]),
            Some("object") => json!({}),
            _ => json!("sample"),
        }
    };
    Value::Object(names.map(|name| (name.to_owned(), value(name))).collect::<Map<_, _>>())
}

/// Answers every form with its defaults, and everything else with something harmless.
struct Defaults;

impl Answers for Defaults {
    fn capabilities(&self) -> String {
        r#"{"elicitation":{"form":{"applyDefaults":true}},"roots":{},"sampling":{}}"#.to_owned()
    }

    fn answer<'a>(&'a self, asking: Asking<'a>) -> Answering<'a> {
        let Asking { method, params, .. } = asking;
        let params: Value = params.and_then(|params| params.read().ok()).unwrap_or_default();
        let answer = match method {
            "elicitation/create" => Ok(json!({"action": "accept", "content": filled_in(&params)})),
            "roots/list" => Ok(json!({"roots": []})),
            "sampling/createMessage" => Ok(json!({
                "role": "assistant", "model": "none", "stopReason": "endTurn",
                "content": {"type": "text", "text": "a sample"},
            })),
            _ => Err(RpcError::new(
                RpcError::METHOD_NOT_FOUND,
                format!("`{method}` is not answered"),
            )),
        };
        Box::pin(async move { answer.map(|answer| answer.to_string()) })
    }
}

fn filled_in(params: &Value) -> Value {
    let properties = params.get("requestedSchema").and_then(|schema| schema.get("properties"));
    let mut content = Map::new();
    for (name, property) in properties.and_then(Value::as_object).into_iter().flatten() {
        let value = property.get("default").cloned().unwrap_or_else(|| {
            match property.get("type").and_then(Value::as_str) {
                Some("boolean") => json!(true),
                Some("integer" | "number") => json!(1),
                _ => json!("sample"),
            }
        });
        content.insert(name.clone(), value);
    }
    Value::Object(content)
}
