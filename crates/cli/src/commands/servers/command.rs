//! `switchboard servers`: lists, watches, edits and restarts servers.

use std::collections::BTreeMap;

use clap::{Args, Subcommand};
use serde_json::Value;
use switchboard_catalog::{Server, ServerStatus};
use switchboard_core::EventKind;
use switchboard_fleet::SupervisorCommand;
use switchboard_terminal::{CliError, exit_code};
use switchboard_text::escape_line;
use tokio::sync::broadcast::error::RecvError;

use crate::args::ServerArg;
use crate::commands::servers::edit::{AddServerArgs, Place};
use crate::commands::servers::{edit, learn, list, show};
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
        /// Keep running and show every change
        #[arg(long, short)]
        watch: bool,
    },
    /// Add a server by URL, or by command after `--`
    Add(AddServerArgs),
    /// Remove a server from its configuration file
    #[command(visible_alias = "rm")]
    Remove {
        /// Name of the server
        name: String,
        #[command(flatten)]
        place: Place,
    },
    /// Enable a disabled server
    Enable {
        /// Name of the server
        name: String,
    },
    /// Disable a server without removing it
    Disable {
        /// Name of the server
        name: String,
    },
    /// Show a server's entry and findings without starting it
    Show {
        /// Name of the server
        name: String,
    },
    /// Approve a server of the project's file, or a dangerous one, in its current form
    Approve {
        /// Name of the server
        name: String,
        /// Approve dangerous findings without asking
        #[arg(long, short)]
        yes: bool,
    },
    /// Observe an unconfined server and propose a `sandbox` for it
    Sandbox {
        /// Name of the server
        name: String,
        /// Seconds to observe the server
        #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=3600))]
        seconds: u64,
        /// Write the sandbox to the server's entry, effective from its next start
        #[arg(long)]
        enforce: bool,
    },
    /// Restart a server and report whether it is ready
    Restart {
        /// Name of the server
        name: String,
    },
    /// Show a server's standard error or log messages
    Logs {
        /// Name of the server
        name: String,
        /// Show the log messages that the server sent over the protocol
        #[arg(long, short)]
        messages: bool,
        /// Number of lines to show
        #[arg(long, short = 'n', default_value_t = 200)]
        lines: usize,
    },
}

pub(crate) async fn run(context: &CommandContext, args: ServersArgs) -> Result<u8, CliError> {
    match args.command.unwrap_or(ServersCommand::List { watch: false }) {
        ServersCommand::List { watch: false } => list::list(context, &ServerArg::default()).await,
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
        ServersCommand::Logs { name, lines, messages: false } => show::log(context, &name, lines),
        ServersCommand::Logs { name, lines, messages: true } => {
            show::messages(context, &name, lines)
        }
    }
}

pub(crate) async fn watch(context: &CommandContext) -> Result<u8, CliError> {
    context.config()?;
    let host = context.start(None)?;
    let mut events = host.events().watch();
    let mut changes = host.fleet().changes();
    let watching = async {
        // Events sent before the subscription may not be in the fleet yet, so follow the fleet as
        // well until the first event of each server.
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
    let ended = context.watch(watching).await;
    host.stop().await;
    ended
}

pub(crate) async fn restart(context: &CommandContext, name: &str) -> Result<u8, CliError> {
    let config = context.config()?;
    let id = context.server_id(&config, name)?;
    // A running `serve` owns the process, so restarting it here would start a second one.
    if let Some(code) = list::restart(context, id.as_str()).await? {
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
    // A change of the fleet shows that the command has arrived. After a timeout, the status below
    // is reported anyway.
    _ = tokio::time::timeout(limit, changes.changed()).await;
    host.wait_settled(Some(&only)).await;
    let fleet = host.fleet().load();
    let status = fleet.servers.get(&id).map(|server| server.status.clone());
    host.stop().await;
    match status {
        Some(ServerStatus::Ready) => {
            context.printer.say(&format!("server `{name}` is ready"));
            Ok(exit_code::OK)
        }
        Some(status) => {
            let why = status
                .failure()
                .map(|failure| format!(": {}", failure.message))
                .unwrap_or_default();
            let message = format!("server `{name}` did not start ({}){why}", status.word());
            let error = CliError::new(exit_code::NOT_RUN, message);
            Err(error.with_hint(format!("`switchboard doctor {name}` shows details")))
        }
        None => Err(CliError::new(
            exit_code::NOT_RUN,
            format!("server `{name}` is no longer configured"),
        )),
    }
}

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
            "(configuration reloaded)".to_owned()
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

/// Formats an event generically: server, event name and the remaining members.
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
