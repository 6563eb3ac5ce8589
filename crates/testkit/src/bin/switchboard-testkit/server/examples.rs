//! Small servers with their own tools: weather forecasts, issues, and tools behind a login.

use serde_json::{Value, json};

use super::content::tool;
use super::{FixtureServer, content};
use crate::message::{IncomingMessage, META_CALLER};
use crate::options::ServerKind;

const WARM_SKIES: &[&str] = &["sun", "clouds", "rain", "wind"];
const COLD_SKIES: &[&str] = &["sun", "clouds", "snow", "fog"];
const MAX_DAYS: u64 = 7;
const DEFAULT_DAYS: u64 = 3;

/// Returns the name and the tools of a server that has only its own tools, or `None` for others.
pub(crate) fn offer(kind: ServerKind) -> Option<(&'static str, Vec<Value>)> {
    match kind {
        ServerKind::Weather => Some(("weather", vec![get_forecast()])),
        ServerKind::Github => Some(("github", vec![create_issue()])),
        ServerKind::Protected => Some(("protected", protected_tools())),
        _ => None,
    }
}

fn get_forecast() -> Value {
    json!({
        "name": "get_forecast",
        "description": "Tells the weather of the next days in a city.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "The name of the city."},
                "days": {
                    "type": "integer", "minimum": 1, "maximum": MAX_DAYS, "default": DEFAULT_DAYS,
                    "description": "How many days, beginning tomorrow.",
                },
            },
            "required": ["city"],
            "additionalProperties": false,
        },
        "annotations": {"readOnlyHint": true, "openWorldHint": true},
    })
}

fn create_issue() -> Value {
    json!({
        "name": "create_issue",
        "description": "Creates an issue in a repository.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "owner": {"type": "string", "description": "Who owns the repository."},
                "repo": {"type": "string", "description": "The name of the repository."},
                "title": {"type": "string"},
                "body": {"type": "string"},
            },
            "required": ["owner", "repo", "title"],
            "additionalProperties": false,
        },
        "annotations": {"readOnlyHint": false, "destructiveHint": false, "idempotentHint": false},
    })
}

/// Runs a tool. `None` for an unknown tool; `Err` with the name of an invalid argument.
pub(crate) fn run(
    server: &FixtureServer,
    name: &str,
    arguments: &Value,
) -> Option<Result<Value, &'static str>> {
    match (server.options.kind, name) {
        (ServerKind::Weather, "get_forecast") => Some(forecast(arguments)),
        (ServerKind::Github, "create_issue") => Some(issue(server, arguments)),
        _ => None,
    }
}

fn forecast(arguments: &Value) -> Result<Value, &'static str> {
    let city = text(arguments, "city")?;
    let days = match &arguments["days"] {
        Value::Null => DEFAULT_DAYS,
        days => days.as_u64().filter(|days| (1..=MAX_DAYS).contains(days)).ok_or("days")?,
    };
    let days: Vec<String> = (1..=days).map(|day| day_in(city, day)).collect();
    Ok(content::text(format!("Forecast for {city}: {}", days.join("; "))))
}

/// Returns a deterministic forecast for a city, which changes little from day to day.
fn day_in(city: &str, day: u64) -> String {
    let mix = |sum: u64, byte: u8| sum.wrapping_mul(31).wrapping_add(u64::from(byte));
    let seed = city.to_lowercase().bytes().fold(0, mix);
    let change = seed.wrapping_add(day.wrapping_mul(5)) % 7;
    let celsius = i64::try_from(seed % 24 + change).unwrap_or(0) - 3;
    let skies = if celsius < 3 { COLD_SKIES } else { WARM_SKIES };
    let choice = usize::try_from((seed / 7).wrapping_add(day.wrapping_mul(3)) % 4).unwrap_or(0);
    format!("day {day}: {celsius} C, {}", skies.get(choice).unwrap_or(&"sun"))
}

fn issue(server: &FixtureServer, arguments: &Value) -> Result<Value, &'static str> {
    let owner = text(arguments, "owner")?;
    let repo = text(arguments, "repo")?;
    let title = text(arguments, "title")?;
    let body = arguments["body"].as_str().unwrap_or_default();
    let number = server.keep_issue(|number| {
        json!({"number": number, "owner": owner, "repo": repo, "title": title, "body": body})
    });
    let address = format!("https://github.example/{owner}/{repo}/issues/{number}");
    Ok(content::text(format!("Created issue #{number}: {address}")))
}

fn text<'a>(arguments: &'a Value, name: &'static str) -> Result<&'a str, &'static str> {
    arguments[name].as_str().filter(|text| !text.is_empty()).ok_or(name)
}

pub(crate) fn protected_tools() -> Vec<Value> {
    let text = |name: &str| json!({name: {"type": "string"}});
    vec![
        tool("whoami", "Says who is logged in.", &json!({}), &[]),
        tool("echo", "Answers with the text.", &text("text"), &["text"]),
        tool("write_file", "Needs more than a login.", &text("path"), &["path"]),
    ]
}

/// Runs a tool. `None` for an unknown tool; `Err` with the name of an invalid argument.
pub(crate) fn run_protected(
    name: &str,
    incoming: &IncomingMessage,
) -> Option<Result<Value, &'static str>> {
    let text = |name: &'static str| incoming.arguments()[name].as_str().ok_or(name);
    match name {
        "whoami" => {
            let caller = incoming.meta(META_CALLER).and_then(Value::as_str).unwrap_or("nobody");
            Some(Ok(content::text(caller.to_owned())))
        }
        "echo" => Some(text("text").map(|text| content::text(text.to_owned()))),
        "write_file" => Some(text("path").map(|path| content::text(format!("wrote {path}")))),
        _ => None,
    }
}
