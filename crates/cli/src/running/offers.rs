//! What the `switchboard serve` that runs for this home offers: its servers are not started again.

use std::time::Duration;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;
use switchboard_terminal::CliError;
use switchboard_text::escape_line;
use switchboard_text::percent::encode_component;
use switchboard_wire::list::ListedItem;

use crate::args::ServerArg;
use crate::commands::tools::row::ToolListing;
use crate::context::CommandContext;
use crate::running::instance::RunningInstance;

/// How often a server that is on its way up is looked at.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// A resource, a template or a prompt of the instance that runs.
#[derive(Debug, Deserialize)]
pub(crate) struct InstanceItem {
    pub(crate) server: String,
    pub(crate) kind: String,
    key: String,
    definition: Box<RawValue>,
}

impl InstanceItem {
    /// Its definition, as the server sent it.
    pub(crate) fn item(self) -> ListedItem {
        ListedItem { key: self.key.into(), raw: self.definition }
    }
}

/// Which tools are wanted.
#[derive(Default)]
pub(crate) struct ToolSelection<'a> {
    pub(crate) words: Option<(&'a str, usize)>,
    /// Whether also what a rule forbids.
    pub(crate) all: bool,
}

/// The tools of the instance that runs; nothing if there is none.
pub(crate) async fn tools(
    context: &CommandContext,
    of: &ServerArg,
    which: &ToolSelection<'_>,
) -> Result<Option<Vec<ToolListing>>, CliError> {
    let words =
        which.words.map(|(words, limit)| format!("&q={}&limit={limit}", encode_component(words)));
    let all = if which.all { "&all=true" } else { "" };
    let path = format!("tools?{}{}{all}", server_name(of), words.unwrap_or_default());
    ask(context, of, &path).await
}

/// One tool of the instance that runs; nothing if there is no instance, or no such tool, or
/// something was found in it that only a host of our own can tell in words.
pub(crate) async fn tool(
    context: &CommandContext,
    server: &str,
    name: &str,
) -> Result<Option<ToolListing>, CliError> {
    let of = ServerArg { server: Some(server.to_owned()) };
    let path = format!("tools/{}/{}", encode_component(server), encode_component(name));
    let found: Option<ToolListing> = ask(context, &of, &path).await?;
    Ok(found.filter(|row| row.found.is_none()))
}

/// Resources and templates, or prompts, of the instance that runs; nothing if there is none.
pub(crate) async fn instance_items(
    context: &CommandContext,
    of: &ServerArg,
    what: &str,
) -> Result<Option<Vec<InstanceItem>>, CliError> {
    ask(context, of, &format!("{what}?{}", server_name(of))).await
}

fn server_name(of: &ServerArg) -> String {
    of.server
        .as_deref()
        .map(|server| format!("server={}", encode_component(server)))
        .unwrap_or_default()
}

async fn ask<T: DeserializeOwned>(
    context: &CommandContext,
    of: &ServerArg,
    path: &str,
) -> Result<Option<T>, CliError> {
    let Some((instance, servers)) = RunningInstance::find(context).await else { return Ok(None) };
    let Some(servers) = wait_settled(context, &instance, of, servers).await else {
        return Ok(None);
    };
    let Some(found) = instance.get(&format!("/api/v1/catalog/{path}")).await else {
        return Ok(None);
    };
    // What is wrong with the files is told whoever has the servers.
    context.config()?;
    tell(context, &servers);
    let held: Vec<Value> = instance.get("/api/v1/pins").await.unwrap_or_default();
    for one in &held {
        let server = one["server"].as_str().unwrap_or_default();
        let hint = format!("look with `switchboard pins diff {server}`");
        let message = format!("server `{server}` has definitions that are held");
        context.printer.warn(&escape_line(&message), Some(&hint));
    }
    Ok(Some(found))
}

/// The servers once their first attempt is over; nothing if the one that is wanted is not ready:
/// the usual way has the words for why.
pub(super) async fn wait_settled(
    context: &CommandContext,
    instance: &RunningInstance,
    of: &ServerArg,
    mut servers: Vec<Value>,
) -> Option<Vec<Value>> {
    let is_wanted = |row: &&Value| of.server.as_ref().is_none_or(|name| row["name"] == **name);
    for _ in 0..context.shared.start_timeout.saturating_mul(5) {
        if !servers.iter().filter(is_wanted).any(|row| row["state"] == "starting") {
            break;
        }
        tokio::time::sleep(POLL_INTERVAL).await;
        servers = instance.get("/api/v1/servers").await?;
    }
    let mut wanted = servers.iter().filter(is_wanted);
    if of.server.is_some() && !wanted.any(|row| row["state"] == "ready") {
        return None;
    }
    Some(servers)
}

fn tell(context: &CommandContext, servers: &[Value]) {
    for row in servers {
        let name = row["name"].as_str().unwrap_or_default();
        if row["state"] == "needs approval" {
            let hint = format!("look at it, then `switchboard servers approve {name}`");
            context.printer.warn(&format!("server `{name}` has not been approved"), Some(&hint));
        } else if let Some(reason) = row["reason"].as_str() {
            let message = format!("server `{name}` is not ready: {reason}");
            context.printer.warn(&message, row["next_step"].as_str());
        }
    }
}
