//! Lists servers and their state, once or as they change.

use std::collections::BTreeMap;
use std::time::Instant;

use clap::{Args, Subcommand};
use serde::Serialize;
use serde_json::Value;
use switchboard_catalog::{Server, ServerFailure, ServerStatus};
use switchboard_core::EventKind;
use switchboard_fleet::SupervisorCommand;
use switchboard_host::Host;
use switchboard_oauth::StoredLogin;
use switchboard_terminal::{CliError, exit_code, table};
use switchboard_text::escape_line;
use switchboard_vetting::EntryFinding;
use tokio::sync::broadcast::error::RecvError;

use crate::args::ServerArg;
use crate::commands::consent::launch_text;
use crate::commands::login::login_text;
use crate::commands::servers::edit::{AddServerArgs, Place};
use crate::commands::servers::{edit, learn, logs, running, show};
use crate::commands::{consent, tools};
use crate::context::CommandContext;

#[derive(Debug, Args)]
pub(crate) struct ServersArgs {
    #[command(subcommand)]
    pub(crate) command: Option<ServersCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ServersCommand {
    /// List servers and their state
    #[command(visible_alias = "ls")]
    List {
        /// Go on and show every change
        #[arg(long, short)]
        watch: bool,
    },
    /// Add a server: an address, or a command after `--`
    Add(AddServerArgs),
    /// Remove a server
    #[command(visible_alias = "rm")]
    Remove {
        /// Its name
        name: String,
        #[command(flatten)]
        place: Place,
    },
    /// Switch a server on
    Enable {
        /// Its name
        name: String,
    },
    /// Switch a server off
    Disable {
        /// Its name
        name: String,
    },
    /// Show a server's entry and what to know about it, without starting it
    Show {
        /// Its name
        name: String,
    },
    /// Agree to a server of the project's file, or to a dangerous one, as it stands there now
    Approve {
        /// Its name
        name: String,
        /// Agree to what is dangerous about it without a question
        #[arg(long, short)]
        yes: bool,
    },
    /// Watch a server while it runs unconfined, and propose a `sandbox` for it
    Sandbox {
        /// Its name
        name: String,
        /// So long, in seconds
        #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=3600))]
        seconds: u64,
        /// Write it into the server's entry, so that the server is confined from its next start on
        #[arg(long)]
        enforce: bool,
    },
    /// Start a server afresh and say how it went
    Restart {
        /// Its name
        name: String,
    },
    /// Show what a server wrote to its standard error, or the messages it sent
    Logs {
        /// Its name
        name: String,
        /// The messages that it sent as the protocol has them
        #[arg(long, short)]
        messages: bool,
        /// Only the last lines
        #[arg(long, short = 'n', default_value_t = 200)]
        lines: usize,
    },
}

#[derive(Serialize)]
struct ServerOutput<'a> {
    name: &'a str,
    status: &'a str,
    transport: String,
    revision: Option<&'static str>,
    tools: usize,
    resources: usize,
    prompts: usize,
    instances: usize,
    failure: Option<&'a ServerFailure>,
    retry_in_seconds: Option<u64>,
    faults: &'a [String],
    noise_lines: u64,
    source: Option<String>,
    findings: &'a [EntryFinding],
    login: Option<&'a StoredLogin>,
}

/// Runs `switchboard servers`.
pub(crate) async fn run(context: &CommandContext, args: ServersArgs) -> Result<u8, CliError> {
    match args.command.unwrap_or(ServersCommand::List { watch: false }) {
        ServersCommand::List { watch: false } => list(context, &ServerArg::default()).await,
        ServersCommand::List { watch: true } => watch(context).await,
        ServersCommand::Add(add) => edit::add(context, &add).await,
        ServersCommand::Show { name } => show::show(context, &name),
        ServersCommand::Remove { name, place } => edit::remove(context, &name, place.scope),
        ServersCommand::Enable { name } => edit::enable(context, &name),
        ServersCommand::Disable { name } => edit::disable(context, &name),
        ServersCommand::Approve { name, yes } => edit::approve(context, &name, yes.into()).await,
        ServersCommand::Sandbox { name, seconds, enforce } => {
            let then =
                if enforce { learn::ProfileAction::Enforce } else { learn::ProfileAction::Propose };
            learn::learn(context, &name, seconds, then).await
        }
        ServersCommand::Restart { name } => restart(context, &name).await,
        ServersCommand::Logs { name, lines, messages: false } => logs::show(context, &name, lines),
        ServersCommand::Logs { name, lines, messages: true } => {
            logs::messages(context, &name, lines)
        }
    }
}

/// Lists servers.
pub(crate) async fn list(context: &CommandContext, of: &ServerArg) -> Result<u8, CliError> {
    if running::list(context, of).await? {
        return Ok(exit_code::OK);
    }
    let host = tools::start(context, of).await?;
    let shown = show_in_chat(context, &host).await;
    host.stop().await;
    shown.map(|()| exit_code::OK)
}

/// Lists the servers of a host that runs.
pub(crate) async fn show_in_chat(context: &CommandContext, host: &Host) -> Result<(), CliError> {
    let fleet = host.fleet().load();
    let mut servers = Vec::new();
    for server in fleet.servers.values() {
        servers.push((server, held_login(host, server).await));
    }
    if context.printer.json {
        let all: Vec<ServerOutput<'_>> =
            servers.iter().map(|(server, held)| as_json(server, held.as_ref())).collect();
        context.printer.json(&all)
    } else {
        let rows: Vec<[String; 8]> =
            servers.iter().map(|(server, held)| row(server, held.as_ref())).collect();
        let heading =
            ["server", "status", "how", "revision", "tools", "resources", "prompts", "login"];
        context.printer.data(&table(context.printer.reader(), heading, &rows))?;
        for config in servers.iter().filter_map(|(server, _)| server.config.as_deref()) {
            consent::tell_dangers(context, config);
        }
        Ok(())
    }
}

/// The login that is held for a server; one that cannot be read is told of by its status.
pub(crate) async fn held_login(host: &Host, server: &Server) -> Option<StoredLogin> {
    let config = server.config.as_ref()?;
    host.logins().stored_login(config).await.ok().flatten()
}

/// Shows every change until it is interrupted.
pub(crate) async fn watch(context: &CommandContext) -> Result<u8, CliError> {
    context.config()?;
    let host = context.start(None)?;
    let mut events = host.events().watch();
    let mut changes = host.fleet().changes();
    let watching = async {
        // What was told before we listened may not be in the fleet yet: it is shown when it is.
        let mut first = BTreeMap::new();
        for server in changes.load().servers.values() {
            show_event(context, &status_event(server))?;
            first.insert(server.id.to_string(), status_event(server));
        }
        loop {
            tokio::select! {
                biased;
                event = events.recv() => match event {
                    Ok(event) => {
                        let told = match &event.what {
                            EventKind::ServerChanged { server, .. } => first.remove(server),
                            _ => None,
                        };
                        if told.as_ref() != Some(&event.what) {
                            show_event(context, &event.what)?;
                        }
                    }
                    Err(RecvError::Lagged(missed)) => {
                        context.printer.say(&format!("{missed} events were missed"));
                    }
                    Err(RecvError::Closed) => return Ok(()),
                },
                fleet = changes.changed(), if !first.is_empty() => {
                    for (id, server) in &fleet.servers {
                        let Some(told) = first.get_mut(id.as_str()) else { continue };
                        if *told != status_event(server) {
                            *told = status_event(server);
                            show_event(context, told)?;
                        }
                    }
                }
            }
        }
    };
    let outcome: Option<Result<(), CliError>> =
        context.interrupts.token().run_until_cancelled(watching).await;
    host.stop().await;
    outcome.unwrap_or(Ok(())).map(|()| exit_code::OK)
}

/// Starts a server afresh and says how it went.
pub(crate) async fn restart(context: &CommandContext, name: &str) -> Result<u8, CliError> {
    let config = context.config()?;
    let id = context.server_id(&config, name)?;
    if let Some(code) = running::restart(context, id.as_str()).await? {
        return Ok(code);
    }
    let host = context.start(Some(vec![id.clone()]))?;
    let only = [id.clone()];
    context.wait_ready(&host, Some(&only)).await?;
    let mut changes = host.fleet().changes();
    let before = changes.load();
    if let Some(server) = before.servers.get(&id) {
        let refusal = match &server.status {
            ServerStatus::Disabled => Some(("disabled", "enable")),
            ServerStatus::NeedsApproval => Some(("not approved", "approve")),
            _ => None,
        };
        if let Some((state, command)) = refusal {
            host.stop().await;
            let message = format!("server `{name}` is {state}");
            return Err(CliError::new(exit_code::NOT_ALLOWED, message)
                .with_hint(format!("`switchboard servers {command} {name}`")));
        }
    }
    host.command(SupervisorCommand::Restart(id.clone())).await;
    let limit = std::time::Duration::from_secs(context.shared.start_timeout);
    // A change of the fleet shows that the command has arrived. After a timeout the status below
    // is the answer all the same.
    _ = tokio::time::timeout(limit, changes.changed()).await;
    host.wait_settled(Some(&only)).await;
    let fleet = host.fleet().load();
    let status = fleet.servers.get(&id).map(|server| server.status.clone());
    host.stop().await;
    match status {
        Some(ServerStatus::Ready) => {
            context.printer.say(&format!("server `{name}` starts well"));
            Ok(exit_code::OK)
        }
        Some(status) => {
            let why = status
                .failure()
                .map(|failure| format!(": {}", failure.message))
                .unwrap_or_default();
            let message = format!("server `{name}` did not start well ({}){why}", status.word());
            let error = CliError::new(exit_code::NOT_RUN, message);
            Err(error.with_hint(format!("`switchboard doctor {name}` tells more")))
        }
        None => Err(CliError::new(exit_code::NOT_RUN, format!("server `{name}` is gone"))),
    }
}

/// The state of a server, as a change to it is told.
fn status_event(server: &Server) -> EventKind {
    EventKind::ServerChanged {
        server: server.id.to_string(),
        status: server.status.word().to_owned(),
        detail: server.status.failure().map(|failure| failure.message.clone()),
    }
}

fn show_event(context: &CommandContext, what: &EventKind) -> Result<(), CliError> {
    if context.printer.json {
        let text = serde_json::to_string(what)
            .map_err(|error| CliError::new(exit_code::TROUBLE, error.to_string()))?;
        context.printer.data(&text)
    } else {
        context.printer.data(&line(what))
    }
}

fn line(what: &EventKind) -> String {
    match what {
        EventKind::ServerChanged { server, status, detail } => {
            let detail = detail.as_deref().map(|detail| format!("\t{detail}")).unwrap_or_default();
            format!(
                "{}\t{status}{}",
                escape_line(server),
                escape_line(&detail).replace("\\t", "\t")
            )
        }
        EventKind::ConfigChanged { problems } if problems.is_empty() => {
            "(configuration read again)".to_owned()
        }
        EventKind::ConfigChanged { problems } => {
            format!("(configuration: {})", escape_line(&problems.join("; ")))
        }
        EventKind::ServerSaid { server, level, text, .. } => {
            format!("{}\t{level}\t{}", escape_line(server), escape_line(text))
        }
        other => plain_line(other),
    }
}

/// An event without words of its own: its name and what it carries.
fn plain_line(what: &EventKind) -> String {
    let Ok(Value::Object(mut members)) = serde_json::to_value(what) else { return String::new() };
    let shown = |value: &Value| match value {
        Value::String(text) => escape_line(text).into_owned(),
        Value::Array(values) => {
            let values = values.iter().map(|value| value.as_str().unwrap_or_default());
            escape_line(&values.collect::<Vec<_>>().join(" ")).into_owned()
        }
        other => other.to_string(),
    };
    let mut columns = Vec::new();
    for key in ["server", "event"] {
        columns.extend(members.remove(key).as_ref().map(shown));
    }
    let rest = members.iter().filter(|(_, value)| !value.is_null());
    columns.extend(rest.map(|(key, value)| format!("{key} {}", shown(value))));
    columns.join("\t")
}

fn as_json<'a>(server: &'a Server, login: Option<&'a StoredLogin>) -> ServerOutput<'a> {
    let retry = match &server.status {
        ServerStatus::Waiting { until, .. } => {
            Some(until.saturating_duration_since(Instant::now()).as_secs())
        }
        _ => None,
    };
    ServerOutput {
        name: server.id.as_str(),
        status: server.status.word(),
        transport: launch_text(server.config.as_deref()),
        revision: server.agreement.as_ref().map(|agreement| agreement.revision.as_str()),
        tools: server.offers.tools.len(),
        resources: server.offers.resources.len() + server.offers.templates.len(),
        prompts: server.offers.prompts.len(),
        instances: server.instances.len(),
        failure: server.status.failure(),
        retry_in_seconds: retry,
        faults: &server.offers.faults,
        noise_lines: server.noise_lines(),
        source: server.config.as_ref().map(|config| config.source.file.display().to_string()),
        findings: server.config.as_deref().map_or(&[], |config| config.findings.as_slice()),
        login,
    }
}

fn row(server: &Server, held: Option<&StoredLogin>) -> [String; 8] {
    let login = match (&server.status, held) {
        (ServerStatus::NeedsLogin(failure), _) => failure.hint.clone().unwrap_or_default(),
        (_, Some(held)) => login_text(held),
        (_, None) => String::new(),
    };
    let revision = server.agreement.as_ref().map(|agreement| agreement.revision.to_string());
    [
        server.id.to_string(),
        server.status.word().to_owned(),
        launch_text(server.config.as_deref()),
        revision.unwrap_or_default(),
        server.offers.tools.len().to_string(),
        (server.offers.resources.len() + server.offers.templates.len()).to_string(),
        server.offers.prompts.len().to_string(),
        login,
    ]
}
