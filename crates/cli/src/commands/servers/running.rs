//! The servers of the instance that runs for this home, as the list of this command shows them.

use std::time::Duration;

use serde_json::{Value, json};
use switchboard_terminal::{CliError, exit_code, table};
use switchboard_text::percent::encode_component;

use crate::args::ServerArg;
use crate::commands::consent;
use crate::context::CommandContext;
use crate::running::instance::RunningInstance;

/// How often a server that is on its way up is looked at.
const POLL_INTERVAL: Duration = Duration::from_millis(200);
/// How often it is looked whether a server has begun to start afresh.
const MAX_START_POLLS: usize = 20;

/// Lists the servers of a running instance; gives whether there is one.
pub(super) async fn list(context: &CommandContext, of: &ServerArg) -> Result<bool, CliError> {
    let Some((instance, rows)) = RunningInstance::find(context).await else { return Ok(false) };
    let Some(servers) = wait_settled(context, &instance, rows).await else { return Ok(false) };
    let wanted = |server: &&Value| of.server.as_ref().is_none_or(|name| server["name"] == **name);
    let servers: Vec<&Value> = servers.iter().filter(wanted).collect();
    // A name that nobody knows is a mistake; the usual way has the words for it.
    if of.server.is_some() && servers.is_empty() {
        return Ok(false);
    }
    // What is wrong with the files is told whoever lists them.
    let config = context.config()?;
    for server in &servers {
        if let (Some(name), Some(reason)) = (server["name"].as_str(), server["reason"].as_str()) {
            let message = format!("server `{name}` is not ready: {reason}");
            context.printer.warn(&message, server["next_step"].as_str());
        }
    }
    if context.printer.json {
        let all: Vec<Value> = servers.iter().map(|server| as_json(server)).collect();
        context.printer.json(&all)?;
        return Ok(true);
    }
    let rows: Vec<[String; 8]> = servers.iter().map(|server| row(server)).collect();
    let heading = ["server", "status", "how", "revision", "tools", "resources", "prompts", "login"];
    context.printer.data(&table(context.printer.reader(), heading, &rows))?;
    for server in config.servers.values() {
        consent::tell_dangers(context, server);
    }
    Ok(true)
}

/// Starts a server of a running instance afresh; gives nothing if there is no such instance, or if
/// it does not do it: the usual way has the words for that.
pub(super) async fn restart(context: &CommandContext, name: &str) -> Result<Option<u8>, CliError> {
    let Some((instance, rows)) = RunningInstance::find(context).await else { return Ok(None) };
    if !rows.iter().any(|row| row["name"] == name) {
        return Ok(None);
    }
    let path = format!("/api/v1/servers/{}", encode_component(name));
    if instance.post(&format!("{path}/restart")).await.is_none() {
        return Ok(None);
    }
    // What it says at first may still be about the connection that ends.
    for _ in 0..MAX_START_POLLS {
        let server: Option<Value> = instance.get(&path).await;
        let state = server.as_ref().and_then(|server| server.get("state"));
        if state.is_none_or(|state| state != "ready") {
            break;
        }
        tokio::time::sleep(POLL_INTERVAL / 4).await;
    }
    let row = json!({ "name": name });
    let servers = wait_settled(context, &instance, vec![row]).await.unwrap_or_default();
    let server = servers.first().unwrap_or(&Value::Null);
    let state = server["state"].as_str().unwrap_or("gone");
    if state == "ready" {
        context.printer.say(&format!("server `{name}` was restarted where `serve` runs"));
        return Ok(Some(exit_code::OK));
    }
    let why = server["reason"].as_str().map(|why| format!(": {why}")).unwrap_or_default();
    let message = format!("server `{name}` did not start well ({state}){why}");
    let error = CliError::new(exit_code::NOT_RUN, message);
    Err(error.with_hint(format!("`switchboard doctor {name}` tells more")))
}

/// Everything about each server, once its first attempt is over.
async fn wait_settled(
    context: &CommandContext,
    instance: &RunningInstance,
    rows: Vec<Value>,
) -> Option<Vec<Value>> {
    let tries = context.shared.start_timeout.saturating_mul(5);
    let mut servers = Vec::new();
    for row in rows {
        let path = format!("/api/v1/servers/{}", encode_component(row.get("name")?.as_str()?));
        let mut server: Value = instance.get(&path).await?;
        for _ in 0..tries {
            if server.get("state").is_some_and(|state| state != "starting") {
                break;
            }
            tokio::time::sleep(POLL_INTERVAL).await;
            server = instance.get(&path).await?;
        }
        servers.push(server);
    }
    Some(servers)
}

fn as_json(server: &Value) -> Value {
    let failure = server["reason"].as_str().map(|message| {
        json!({
            "message": message,
            "hint": server["next_step"],
            "stderr": server["log"],
            "exit": server["exit"],
        })
    });
    json!({
        "name": server["name"],
        "status": server["state"],
        "transport": launch_text(server),
        "revision": server["revision"],
        "tools": server["tools"],
        "resources": server["resources"],
        "prompts": server["prompts"],
        "instances": server["instances"],
        "failure": failure,
        "retry_in_seconds": server["retry_in_seconds"],
        "faults": server["faults"],
        "noise_lines": server["noise_lines"],
        "source": source(server),
        "findings": server["findings"],
        "login": server["login"],
    })
}

/// The file that has it; what is part of this program is in none.
fn source(server: &Value) -> Value {
    match server["transport"].as_str() {
        Some("built in") => json!(""),
        _ => server["source"].clone(),
    }
}

fn row(server: &Value) -> [String; 8] {
    let text = |key: &str| server[key].as_str().unwrap_or_default().to_owned();
    let number = |key: &str| server[key].as_u64().unwrap_or_default().to_string();
    let login =
        match (server["state"].as_str(), server.pointer("/login/issuer").and_then(Value::as_str)) {
            (Some("needs login"), _) => text("next_step"),
            (_, Some(issuer)) => format!("by {issuer}"),
            (_, None) => String::new(),
        };
    [
        text("name"),
        text("state"),
        launch_text(server),
        text("revision"),
        number("tools"),
        number("resources"),
        number("prompts"),
        login,
    ]
}

fn launch_text(server: &Value) -> String {
    match (server["transport"].as_str(), server["place"].as_str()) {
        (Some(transport), Some("") | None) => transport.to_owned(),
        (_, Some(place)) => place.to_owned(),
        (None, None) => String::new(),
    }
}
