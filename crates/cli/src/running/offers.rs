//! Lists the offers of a running `switchboard serve`, so that its servers are not started again.

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

const IGNORE_VARIABLE: &str = "SWITCHBOARD_NO_RUNNING";
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// Returns the running instance with the same configuration files, if it responds, and its servers.
pub(crate) async fn find_instance(
    context: &CommandContext,
) -> Option<(RunningInstance, Vec<ServerRow>)> {
    let shared = &context.shared;
    // The instance has its own roots, record and lock, so these options need a host started here.
    let own_wishes =
        shared.no_running || shared.no_record || shared.locked || !shared.root.is_empty();
    if own_wishes || context.environment.variable(IGNORE_VARIABLE).is_some() {
        return None;
    }
    let instance = RunningInstance::read(&context.places)?;
    let servers = instance.servers().await?;
    Some((instance, servers))
}

/// Polls a value until its server has started, at most for the start timeout.
pub(crate) async fn poll_settled<T>(
    context: &CommandContext,
    mut now: T,
    fetch: impl AsyncFn() -> Option<T>,
    is_starting: impl Fn(&T) -> bool,
) -> Option<T> {
    // Five polls per second, so that the timeout of the command line applies here too.
    for _ in 0..context.shared.start_timeout.saturating_mul(5) {
        if !is_starting(&now) {
            break;
        }
        tokio::time::sleep(POLL_INTERVAL).await;
        now = fetch().await?;
    }
    Some(now)
}

/// Returns the servers after their first start attempt; `None` if the requested one is not ready.
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

pub(crate) async fn tools(
    context: &CommandContext,
    query: &CatalogQuery,
) -> Result<Option<Vec<CatalogTool>>, CliError> {
    ask(context, query.server.as_deref(), async |instance| instance.tools(query).await).await
}

pub(crate) async fn tool(
    context: &CommandContext,
    server: &str,
    name: &str,
) -> Result<Option<CatalogTool>, CliError> {
    let fetch = async |instance: &RunningInstance| instance.tool(server, name).await;
    let found = ask(context, Some(server), fetch).await?;
    // Only a host started here can describe the scanner's findings.
    Ok(found.filter(|tool| tool.found.is_none()))
}

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
    // Report configuration problems even if another instance runs the servers.
    context.config()?;
    for ServerRow { name, state, reason, next_step, .. } in &servers {
        if state == ServerStatus::NeedsApproval.word() {
            let hint = format!("review it, then run `switchboard servers approve {name}`");
            context.printer.warn(&format!("server `{name}` has not been approved"), Some(&hint));
        } else if let Some(reason) = reason {
            let message = format!("server `{name}` is not ready: {reason}");
            context.printer.warn(&message, next_step.as_deref());
        }
    }
    for held in instance.held().await.unwrap_or_default() {
        let hint = format!("review with `switchboard pins diff {}`", held.server);
        let message = format!("server `{}` has quarantined definitions", held.server);
        context.printer.warn(&escape_line(&message), Some(&hint));
    }
    Ok(Some(found))
}
