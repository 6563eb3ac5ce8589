//! What the `switchboard serve` that runs for this home offers: its servers are not started again.

use std::time::Duration;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;
use switchboard_terminal::CliError;
use switchboard_text::escape_line;
use switchboard_text::percent::part;
use switchboard_wire::list::Item;

use crate::args::OfServer;
use crate::commands::tools::row::ToolRow;
use crate::context::Context;
use crate::running::instance::Instance;

/// How often a server that is on its way up is looked at.
const AGAIN: Duration = Duration::from_millis(200);

/// A resource, a template or a prompt of the instance that runs.
#[derive(Debug, Deserialize)]
pub(crate) struct Offered {
    pub(crate) server: String,
    pub(crate) kind: String,
    key: String,
    definition: Box<RawValue>,
}

impl Offered {
    /// Its definition, as the server sent it.
    pub(crate) fn item(self) -> Item {
        Item { key: self.key.into(), raw: self.definition }
    }
}

/// Which tools are wanted.
#[derive(Default)]
pub(crate) struct Which<'a> {
    pub(crate) words: Option<(&'a str, usize)>,
    /// Whether also what a rule forbids.
    pub(crate) all: bool,
}

/// The tools of the instance that runs; nothing if there is none.
pub(crate) async fn tools(
    context: &Context,
    of: &OfServer,
    which: &Which<'_>,
) -> Result<Option<Vec<ToolRow>>, CliError> {
    let words = which.words.map(|(words, limit)| format!("&q={}&limit={limit}", part(words)));
    let all = if which.all { "&all=true" } else { "" };
    let path = format!("tools?{}{}{all}", server_of(of), words.unwrap_or_default());
    ask(context, of, &path).await
}

/// One tool of the instance that runs; nothing if there is no instance, or no such tool, or
/// something was found in it that only a host of our own can tell in words.
pub(crate) async fn tool(
    context: &Context,
    server: &str,
    name: &str,
) -> Result<Option<ToolRow>, CliError> {
    let of = OfServer { server: Some(server.to_owned()) };
    let path = format!("tools/{}/{}", part(server), part(name));
    let found: Option<ToolRow> = ask(context, &of, &path).await?;
    Ok(found.filter(|row| row.found.is_none()))
}

/// Resources and templates, or prompts, of the instance that runs; nothing if there is none.
pub(crate) async fn offered(
    context: &Context,
    of: &OfServer,
    what: &str,
) -> Result<Option<Vec<Offered>>, CliError> {
    ask(context, of, &format!("{what}?{}", server_of(of))).await
}

fn server_of(of: &OfServer) -> String {
    of.server.as_deref().map(|server| format!("server={}", part(server))).unwrap_or_default()
}

async fn ask<T: DeserializeOwned>(
    context: &Context,
    of: &OfServer,
    path: &str,
) -> Result<Option<T>, CliError> {
    let Some((instance, servers)) = Instance::find(context).await else { return Ok(None) };
    let Some(servers) = settled(context, &instance, of, servers).await else { return Ok(None) };
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
pub(super) async fn settled(
    context: &Context,
    instance: &Instance,
    of: &OfServer,
    mut servers: Vec<Value>,
) -> Option<Vec<Value>> {
    let is_wanted = |row: &&Value| of.server.as_ref().is_none_or(|name| row["name"] == **name);
    for _ in 0..context.shared.start_timeout.saturating_mul(5) {
        if !servers.iter().filter(is_wanted).any(|row| row["state"] == "starting") {
            break;
        }
        tokio::time::sleep(AGAIN).await;
        servers = instance.get("/api/v1/servers").await?;
    }
    let mut wanted = servers.iter().filter(is_wanted);
    if of.server.is_some() && !wanted.any(|row| row["state"] == "ready") {
        return None;
    }
    Some(servers)
}

fn tell(context: &Context, servers: &[Value]) {
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
