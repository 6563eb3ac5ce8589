//! Offers of the `switchboard serve` that runs for this home: its servers are not started again.

use std::time::Duration;

use switchboard_catalog::ServerStatus;
use switchboard_terminal::CliError;
use switchboard_text::escape_line;
use switchboard_views::{
    CatalogItem, CatalogQuery, CatalogTool, ItemList, RunningInstance, ServerRow, catalog_items,
};

use crate::args::ServerArg;
use crate::commands::tools::start;
use crate::context::CommandContext;

/// With this variable set, commands ignore a running instance.
const IGNORE_VARIABLE: &str = "SWITCHBOARD_NO_RUNNING";
/// How often a server that starts is looked at.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// The instance that runs with the same files as this command, if one answers, and its servers.
pub(crate) async fn find_instance(
    context: &CommandContext,
) -> Option<(RunningInstance, Vec<ServerRow>)> {
    let shared = &context.shared;
    let own_wishes =
        shared.no_running || shared.no_record || shared.locked || !shared.root.is_empty();
    if own_wishes || context.environment.variable(IGNORE_VARIABLE).is_some() {
        return None;
    }
    let instance = RunningInstance::read(&context.places)?;
    let servers = instance.servers().await?;
    Some((instance, servers))
}

/// Fetches something again until it is settled, for as long as a server may take to start.
pub(crate) async fn poll_settled<T>(
    context: &CommandContext,
    mut now: T,
    fetch: impl AsyncFn() -> Option<T>,
    is_starting: impl Fn(&T) -> bool,
) -> Option<T> {
    for _ in 0..context.shared.start_timeout.saturating_mul(5) {
        if !is_starting(&now) {
            break;
        }
        tokio::time::sleep(POLL_INTERVAL).await;
        now = fetch().await?;
    }
    Some(now)
}

/// The servers once their first attempt is over; nothing if the wanted one is not ready: a host of
/// our own reports why.
pub(super) async fn wait_settled(
    context: &CommandContext,
    instance: &RunningInstance,
    server: Option<&str>,
    servers: Vec<ServerRow>,
) -> Option<Vec<ServerRow>> {
    let is_wanted = |row: &ServerRow| server.is_none_or(|name| row.name == name);
    let is_starting =
        |rows: &Vec<ServerRow>| rows.iter().any(|row| is_wanted(row) && row.is_starting());
    let settled = poll_settled(context, servers, async || instance.servers().await, is_starting);
    let settled = settled.await?;
    let is_ready = settled.iter().any(|row| is_wanted(row) && row.is_ready());
    (server.is_none() || is_ready).then_some(settled)
}

/// The tools of the instance that runs; nothing if there is none.
pub(crate) async fn tools(
    context: &CommandContext,
    query: &CatalogQuery,
) -> Result<Option<Vec<CatalogTool>>, CliError> {
    ask(context, query.server.as_deref(), async |instance| instance.tools(query).await).await
}

/// One tool of the instance that runs; nothing if there is no instance, or no such tool, or the
/// scanner found something in it, which only a host of our own can tell in words.
pub(crate) async fn tool(
    context: &CommandContext,
    server: &str,
    name: &str,
) -> Result<Option<CatalogTool>, CliError> {
    let fetch = async |instance: &RunningInstance| instance.tool(server, name).await;
    let found = ask(context, Some(server), fetch).await?;
    Ok(found.filter(|tool| tool.found.is_none()))
}

/// Resources and templates, or prompts: of the instance that runs, or of servers that are started
/// for it.
pub(crate) async fn items(
    context: &CommandContext,
    of: &ServerArg,
    list: ItemList,
) -> Result<Vec<CatalogItem>, CliError> {
    let server = of.server.as_deref();
    let running = ask(context, server, async |instance| instance.items(list, server).await).await?;
    if let Some(items) = running {
        return Ok(items);
    }
    let host = start(context, of).await?;
    let items = catalog_items(&host, list, None);
    host.stop().await;
    Ok(items)
}

async fn ask<T>(
    context: &CommandContext,
    server: Option<&str>,
    fetch: impl AsyncFnOnce(&RunningInstance) -> Option<T>,
) -> Result<Option<T>, CliError> {
    let asking = async {
        let (instance, servers) = find_instance(context).await?;
        let servers = wait_settled(context, &instance, server, servers).await?;
        let found = fetch(&instance).await?;
        Some((instance, servers, found))
    };
    let Some((instance, servers, found)) = asking.await else { return Ok(None) };
    // Problems of the files are reported wherever the servers run.
    context.config()?;
    for ServerRow { name, state, reason, next_step, .. } in &servers {
        if state == ServerStatus::NeedsApproval.word() {
            let hint = format!("look at it, then `switchboard servers approve {name}`");
            context.printer.warn(&format!("server `{name}` has not been approved"), Some(&hint));
        } else if let Some(reason) = reason {
            let message = format!("server `{name}` is not ready: {reason}");
            context.printer.warn(&message, next_step.as_deref());
        }
    }
    for held in instance.held().await.unwrap_or_default() {
        let hint = format!("look with `switchboard pins diff {}`", held.server);
        let message = format!("server `{}` has definitions that are held", held.server);
        context.printer.warn(&escape_line(&message), Some(&hint));
    }
    Ok(Some(found))
}
