//! `switchboard servers list`, from a running instance or from a host started here.

use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::json;
use switchboard_catalog::{Server, ServerFailure, ServerStatus};
use switchboard_host::Host;
use switchboard_oauth::StoredLogin;
use switchboard_terminal::{CliError, exit_code};
use switchboard_vetting::EntryFinding;
use switchboard_views::{RunningInstance, ServerShown};

use crate::args::ServerArg;
use crate::commands::consent::launch_text;
use crate::commands::login::login_text;
use crate::commands::{consent, tools};
use crate::context::CommandContext;
use crate::running::{find_instance, poll_settled};

const RESTART_INTERVAL: Duration = Duration::from_millis(50);
const MAX_RESTART_POLLS: usize = 20;

#[derive(Serialize)]
struct ServerOutput<'a> {
    name: &'a str,
    status: &'a str,
    transport: String,
    revision: Option<&'a str>,
    tools: usize,
    resources: usize,
    prompts: usize,
    instances: usize,
    failure: Option<ServerFailure>,
    retry_in_seconds: Option<u64>,
    faults: &'a [String],
    noise_lines: u64,
    source: Option<String>,
    findings: &'a [EntryFinding],
    login: Option<&'a StoredLogin>,
}

pub(super) async fn list(context: &CommandContext, of: &ServerArg) -> Result<u8, CliError> {
    if let Some(servers) = running_servers(context, of).await {
        // Report configuration problems even if another instance runs the servers.
        let config = context.config()?;
        for row in servers.iter().map(|server| &server.row) {
            if let Some(reason) = &row.reason {
                let message = format!("server `{}` is not ready: {reason}", row.name);
                context.printer.warn(&message, row.next_step.as_deref());
            }
        }
        let all: Vec<ServerOutput<'_>> = servers.iter().map(ServerOutput::from).collect();
        if context.printer.json {
            return context.printer.json(&json!(all)).map(|()| exit_code::OK);
        }
        print(context, &all, |login| format!("by {}", login.issuer))?;
        for server in config.servers.values() {
            consent::tell_dangers(context, server);
        }
        return Ok(exit_code::OK);
    }
    let host = tools::start(context, of).await?;
    let shown = show_in_chat(context, &host).await;
    host.stop().await;
    shown.map(|()| exit_code::OK)
}

pub(crate) async fn show_in_chat(context: &CommandContext, host: &Host) -> Result<(), CliError> {
    let fleet = host.fleet().load();
    let mut servers = Vec::new();
    for server in fleet.servers.values() {
        servers.push((server, held_login(host, server).await));
    }
    let all = servers.iter().map(|(server, login)| ServerOutput::new(server, login.as_ref()));
    let all: Vec<ServerOutput<'_>> = all.collect();
    if context.printer.json {
        return context.printer.json(&all);
    }
    print(context, &all, login_text)?;
    for config in servers.iter().filter_map(|(server, _)| server.config.as_deref()) {
        consent::tell_dangers(context, config);
    }
    Ok(())
}

pub(crate) async fn held_login(host: &Host, server: &Server) -> Option<StoredLogin> {
    let config = server.config.as_ref()?;
    // A login that cannot be read is reported by the server's status.
    host.logins().stored_login(config).await.ok().flatten()
}

/// Returns the servers of a running instance after their first start attempt.
async fn running_servers(context: &CommandContext, of: &ServerArg) -> Option<Vec<ServerShown>> {
    let (instance, rows) = find_instance(context).await?;
    let mut servers = Vec::new();
    for row in rows.iter().filter(|row| of.server.as_ref().is_none_or(|name| row.name == *name)) {
        servers.push(settled_server(context, &instance, &row.name).await?);
    }
    // For a server that the instance does not have, a host started here reports the error.
    (of.server.is_none() || !servers.is_empty()).then_some(servers)
}

async fn settled_server(
    context: &CommandContext,
    instance: &RunningInstance,
    name: &str,
) -> Option<ServerShown> {
    let first = instance.server(name).await?;
    let fetch = async || instance.server(name).await;
    poll_settled(context, first, fetch, |server| server.row.is_starting()).await
}

/// Restarts a server of a running instance; `None` if there is none, or if it refuses.
pub(super) async fn restart(context: &CommandContext, name: &str) -> Result<Option<u8>, CliError> {
    let asking = async {
        let (instance, rows) = find_instance(context).await?;
        rows.iter().find(|row| row.name == name)?;
        instance.restart(name).await?;
        Some(instance)
    };
    let Some(instance) = asking.await else { return Ok(None) };
    // At first the status may still be that of the old connection.
    for _ in 0..MAX_RESTART_POLLS {
        if !instance.server(name).await.is_some_and(|server| server.row.is_ready()) {
            break;
        }
        tokio::time::sleep(RESTART_INTERVAL).await;
    }
    let server = settled_server(context, &instance, name).await;
    let row = server.as_ref().map(|server| &server.row);
    if row.is_some_and(switchboard_views::ServerRow::is_ready) {
        context.printer.say(&format!("server `{name}` was restarted by the running `serve`"));
        return Ok(Some(exit_code::OK));
    }
    let state = row.map_or("gone", |row| &row.state);
    let why = row.and_then(|row| row.reason.as_ref()).map(|why| format!(": {why}"));
    let why = why.unwrap_or_default();
    let message = format!("server `{name}` did not start ({state}){why}");
    let error = CliError::new(exit_code::NOT_RUN, message);
    Err(error.with_hint(format!("`switchboard doctor {name}` shows details")))
}

fn print(
    context: &CommandContext,
    servers: &[ServerOutput<'_>],
    login_text: impl Fn(&StoredLogin) -> String,
) -> Result<(), CliError> {
    let row = |server: &ServerOutput<'_>| {
        let hint = || server.failure.as_ref().and_then(|failure| failure.hint.clone());
        let login = match server.status {
            // The column then shows the command to log in with.
            "needs login" => hint(),
            _ => server.login.map(&login_text),
        };
        [
            server.name.to_owned(),
            server.status.to_owned(),
            server.transport.clone(),
            server.revision.unwrap_or_default().to_owned(),
            server.tools.to_string(),
            server.resources.to_string(),
            server.prompts.to_string(),
            login.unwrap_or_default(),
        ]
    };
    let rows: Vec<[String; 8]> = servers.iter().map(row).collect();
    context.printer.table(
        ["server", "status", "how", "revision", "tools", "resources", "prompts", "login"],
        &rows,
    )
}

impl<'a> ServerOutput<'a> {
    fn new(server: &'a Server, login: Option<&'a StoredLogin>) -> Self {
        let retry_in_seconds = match &server.status {
            ServerStatus::Waiting { until, .. } => {
                Some(until.saturating_duration_since(Instant::now()).as_secs())
            }
            _ => None,
        };
        let config = server.config.as_deref();
        Self {
            name: server.id.as_str(),
            status: server.status.word(),
            transport: launch_text(config),
            revision: server.agreement.as_ref().map(|agreement| agreement.revision.as_str()),
            tools: server.offers.tools.len(),
            resources: server.offers.resources.len() + server.offers.templates.len(),
            prompts: server.offers.prompts.len(),
            instances: server.instances.len(),
            failure: server.status.failure().cloned(),
            retry_in_seconds,
            faults: &server.offers.faults,
            noise_lines: server.noise_lines(),
            source: config.map(|config| config.source.file.display().to_string()),
            findings: config.map_or(&[], |config| config.findings.as_slice()),
            login,
        }
    }
}

impl<'a> From<&'a ServerShown> for ServerOutput<'a> {
    fn from(server: &'a ServerShown) -> Self {
        let row = &server.row;
        let failure = |message: &String| ServerFailure {
            message: message.clone(),
            hint: row.next_step.clone(),
            stderr: server.log.clone(),
            exit: server.exit.clone(),
        };
        // The built-in server is not configured in a file.
        let is_built_in = row.transport == "built in";
        Self {
            name: &row.name,
            status: &row.state,
            transport: if row.place.is_empty() { &row.transport } else { &row.place }.clone(),
            revision: row.revision.as_deref(),
            tools: row.tools,
            resources: row.resources,
            prompts: row.prompts,
            instances: row.instances,
            failure: row.reason.as_ref().map(failure),
            retry_in_seconds: row.retry_in_seconds,
            faults: &server.faults,
            noise_lines: server.noise_lines,
            source: if is_built_in { Some(String::new()) } else { server.source.clone() },
            findings: &server.findings,
            login: server.login.as_ref(),
        }
    }
}
