//! The client that the official conformance suite drives: the whole host against one address.
//!
//! The suite starts it with the address as the last argument and tells by variables which scenario
//! and which revision it plays.
#![expect(clippy::print_stderr, reason = "the suite keeps what its client says")]

use std::sync::Arc;

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use switchboard_catalog::ServerStatus;
use switchboard_config::{Environment, Places};
use switchboard_fleet::{AnswerFuture, Answers, ServerRequest};
use switchboard_host::{Caller, Host, Options, OutcomeKind, ProposedCall, Recording};
use switchboard_oauth::{VisitFuture, Visitor};
use switchboard_wire::{Json, RpcError};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

type Failure = Box<dyn std::error::Error>;

/// The address of a document that the suite takes for a description of its client.
const DOCUMENT: &str = "https://conformance-test.local/client-metadata.json";

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let url = std::env::args().next_back().ok_or("the address is missing")?;
    let mut environment = Environment::from_process();
    let key = "a key for one scenario, long enough to be taken".to_owned();
    environment.variables.insert("SWITCHBOARD_TOKEN_KEY".to_owned(), key);
    let revision = environment.variable("MCP_CONFORMANCE_PROTOCOL_VERSION").unwrap_or("2025-11-25");
    let era = if revision >= "2026-07-28" { "modern" } else { "legacy" };
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("config.json");
    let context = environment.variable("MCP_CONFORMANCE_CONTEXT").unwrap_or("{}");
    let context: Value = serde_json::from_str(context).unwrap_or_default();
    let scenario = environment.variable("MCP_CONFORMANCE_SCENARIO").unwrap_or_default();
    let oauth = oauth(scenario, &context);
    let server = json!({"url": url, "type": "http", "era": era, "timeout": 20, "oauth": oauth});
    std::fs::write(&file, json!({"mcpServers": {"suite": server}}).to_string())?;
    let state = folder.path().join("state");
    let places = Places { explicit: vec![file], ..Places::without_files(state) };
    let options = Options {
        answers: Arc::new(Defaults),
        record: Recording::Off,
        visitor: Some(Arc::new(Agreeable)),
        ..Options::new(places, environment)
    };
    let host = Host::start(options)?;
    host.wait_settled(None).await;
    let outcome = play(&host, &context).await;
    host.stop().await;
    outcome
}

/// Calls every tool once, or exactly those that the suite names.
async fn play(host: &Host, context: &Value) -> Result<(), Failure> {
    let lease = host.lease();
    let server = lease.fleet().servers.get("suite").ok_or("the server is gone")?;
    if server.status != ServerStatus::Ready {
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
        None => {
            let listed = server.offers.tools.iter().map(|tool| {
                let schema = tool.definition().input_schema.map_or("{}", RawValue::get);
                (tool.name().to_owned(), serde_json::from_str(schema).unwrap_or_default())
            });
            fitting_calls(listed.collect())
        }
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

/// One call of every tool; where one wants another's schema back as it was sent, only that.
fn fitting_calls(listed: Vec<(String, Value)>) -> Vec<(String, Value)> {
    let schema_of = |name: &str| listed.iter().find(|(tool, _)| tool == name).map(|(_, it)| it);
    if let (Some(_), Some(schema)) =
        (schema_of("json_schema_echo"), schema_of("json_schema_2020_12_tool"))
    {
        return vec![("json_schema_echo".to_owned(), json!({ "schema": schema }))];
    }
    listed.into_iter().map(|(tool, schema)| (tool, sample(&schema))).collect()
}

/// Arguments that fit a schema well enough.
fn sample(schema: &Value) -> Value {
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

/// As whom to log in: what the scenario gives, else whatever the server supports.
fn oauth(scenario: &str, context: &Value) -> Value {
    let mut oauth = Map::new();
    oauth.insert("clientMetadataUrl".to_owned(), json!(DOCUMENT));
    let given =
        [("clientId", "client_id"), ("clientSecret", "client_secret"), ("issuer", "issuer")];
    for (key, name) in given {
        if let Some(value) = context.get(name) {
            oauth.insert(key.to_owned(), value.clone());
        }
    }
    if scenario == "auth/client-credentials-basic" {
        oauth.insert("grant".to_owned(), json!("client_credentials"));
    }
    Value::Object(oauth)
}

/// A person who agrees to everything: takes the redirect that the authorization server answers.
struct Agreeable;

impl Visitor for Agreeable {
    fn redirect_uri(&self) -> String {
        "http://127.0.0.1:53682/callback".to_owned()
    }

    fn visit<'a>(&'a self, authorization_url: &'a str) -> VisitFuture<'a> {
        Box::pin(
            async move { redirect(authorization_url).await.map_err(|failure| failure.to_string()) },
        )
    }
}

/// Where a plain GET is sent on to.
async fn redirect(url: &str) -> Result<String, Failure> {
    let address = url.strip_prefix("http://").ok_or("the suite listens on plain HTTP")?;
    let (host, path) = address.split_once('/').ok_or("an authorization URL has a path")?;
    let mut stream = TcpStream::connect(host).await?;
    let request = format!("GET /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    let lines = answer.lines().filter_map(|line| line.split_once(": "));
    let mut locations = lines.filter(|(name, _)| name.eq_ignore_ascii_case("location"));
    let (_, location) = locations.next().ok_or("the authorization server redirects nowhere")?;
    Ok(location.to_owned())
}

/// Answers every form with its defaults, and everything else with something harmless.
struct Defaults;

impl Answers for Defaults {
    fn capabilities(&self, _server: &str) -> String {
        r#"{"elicitation":{"form":{"applyDefaults":true}},"roots":{},"sampling":{}}"#.to_owned()
    }

    fn answer<'a>(&'a self, asking: ServerRequest<'a>) -> AnswerFuture<'a> {
        let ServerRequest { method, params, .. } = asking;
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
