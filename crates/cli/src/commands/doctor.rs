//! `switchboard doctor`: diagnoses servers and configuration, and suggests remedies.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Instant;

use clap::Args;
use serde_json::{Value, json};
use switchboard_catalog::{Server, ServerStatus};
use switchboard_core::ServerId;
use switchboard_document::ConfigError;
use switchboard_oauth::StoredLogin;
use switchboard_terminal::{CliError, exit_code, finding_line, pluralize};
use switchboard_text::escape_line;

use crate::commands::consent::launch_text;
use crate::commands::login::login_text;
use crate::commands::servers::held_login as login_held;
use crate::commands::{bundle, first_use, held, hooks};
use crate::context::{CommandContext, MORE_TIME, NOT_YET};

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Check only this server
    pub(crate) server: Option<String>,
}

pub(crate) async fn run(context: &CommandContext, args: &DoctorArgs) -> Result<u8, CliError> {
    let config = context.config()?;
    let only: Option<Vec<ServerId>> = match &args.server {
        Some(name) => Some(vec![context.server_id(&config, name)?]),
        None => None,
    };
    let started = Instant::now();
    let host = context.start(only.clone())?;
    context.wait_up(&host, only.as_deref()).await?;
    first_use::ask_about_new(context, &host).await?;
    let took = started.elapsed();
    let fleet = host.fleet().load();
    let ledger = host.ledger().check();
    let flagged = host.flagged();
    let mut servers = Vec::new();
    for server in fleet.servers.values() {
        servers.push((server, login_held(&host, server).await));
    }
    let hooks = host.hooks();
    host.stop().await;

    let unpacked: BTreeMap<&ServerId, Vec<String>> = fleet
        .servers
        .values()
        .map(|server| (&server.id, bundle_changes(context, server)))
        .collect();
    let changes = |server: &Server| unpacked.get(&server.id).into_iter().flatten();
    let is_ill = |server: &Server| is_unhealthy(server) || changes(server).next().is_some();
    let ill = fleet.servers.values().filter(|server| is_ill(server)).count();
    let record = ledger.as_ref().map_or_else(ToString::to_string, |()| "ok".to_owned());
    if context.printer.json {
        let servers: Vec<Value> =
            servers.iter().map(|(server, held)| as_json(server, held.as_ref())).collect();
        context.printer.json(&json!({
            "files": config.files,
            "problems": config.problems.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "state": context.places.state,
            "record": record,
            "hooks": hooks.files.iter().map(hooks::as_json).collect::<Vec<_>>(),
            "servers": servers,
            "found": &*flagged,
        }))?;
    } else {
        let mut text = String::new();
        for file in &config.files {
            let there = if file.exists() { "read" } else { "missing" };
            // Writing to a `String` cannot fail.
            _ = writeln!(text, "file    {} ({there})", file.display());
        }
        _ = writeln!(text, "record  {} ({record})", context.places.state.display());
        text.push_str(&hooks::diagnosis(&hooks));
        for (server, held) in &servers {
            describe(&mut text, server, held.as_ref());
            for change in changes(server) {
                _ = writeln!(text, "    danger: in its bundle, {}", escape_line(change));
            }
            let of_server = flagged.iter().filter(|one| one.server == server.id);
            for one in of_server.filter(|one| held::is_worth_telling(one)) {
                let found = held::description(one);
                found.lines().for_each(|line| _ = writeln!(text, "    {line}"));
            }
        }
        _ = writeln!(
            text,
            "\n{}, {ill} unhealthy, checked in {:.1} s",
            pluralize(fleet.servers.len(), "server"),
            took.as_secs_f64()
        );
        context.printer.data(&text)?;
    }
    let is_broken = || config.problems.iter().any(ConfigError::is_error);
    // A check of one server does not fail because of another server's entry.
    let files_are_well = args.server.is_some() || (config.broken.is_empty() && !is_broken());
    let well = ill == 0 && ledger.is_ok() && files_are_well && hooks.first_error().is_none();
    Ok(if well { exit_code::OK } else { exit_code::NOT_RUN })
}

fn bundle_changes(context: &CommandContext, server: &Server) -> Vec<String> {
    server.config.as_deref().map(|config| bundle::changes(context, config)).unwrap_or_default()
}

fn is_unhealthy(server: &Server) -> bool {
    !matches!(server.status, ServerStatus::Ready | ServerStatus::Disabled)
        || server.missing_tools_reason().is_some()
}

fn describe(text: &mut String, server: &Server, held: Option<&StoredLogin>) {
    let mark = if is_unhealthy(server) { "✗" } else { "✓" };
    let line = |value: &str| escape_line(value).into_owned();
    _ = writeln!(text, "\n{mark} {}: {}", line(server.id.as_str()), server.status.word());
    if server.config.is_some() {
        _ = writeln!(text, "    {}", line(&launch_text(server.config.as_deref())));
    }
    if let (ServerStatus::Ready, Some(agreement)) = (&server.status, &server.agreement) {
        let offers = &server.offers;
        _ = writeln!(
            text,
            "    speaks {}, offers {}, {}, {}",
            agreement.revision,
            pluralize(offers.tools.len(), "tool"),
            pluralize(offers.resources.len() + offers.templates.len(), "resource"),
            pluralize(offers.prompts.len(), "prompt")
        );
    }
    if let Some(held) = held {
        _ = writeln!(text, "    logged in {}", login_text(held));
    }
    if server.noise_lines() > 0 {
        let lines = pluralize(usize::try_from(server.noise_lines()).unwrap_or(usize::MAX), "line");
        _ = writeln!(text, "    wrote {lines} to standard output that are not messages");
    }
    for finding in server.config.iter().flat_map(|config| &config.findings) {
        _ = writeln!(text, "    {}", finding_line(finding));
    }
    for fault in &server.offers.faults {
        _ = writeln!(text, "    left out: {}", line(fault));
    }
    if server.status == ServerStatus::Starting {
        _ = writeln!(text, "    {NOT_YET}\n    hint: {MORE_TIME}");
    }
    if server.status == ServerStatus::NeedsApproval {
        let name = line(server.id.as_str());
        _ = writeln!(text, "    hint: review it, then run `switchboard servers approve {name}`");
    }
    if let Some(failure) = server.status.failure() {
        _ = writeln!(text, "    {}", line(&failure.message));
        if let Some(exit) = &failure.exit {
            _ = writeln!(text, "    process: {}", line(exit));
        }
        for said in &failure.stderr {
            _ = writeln!(text, "    | {}", line(said));
        }
        if let Some(hint) = &failure.hint {
            _ = writeln!(text, "    hint: {}", line(hint));
        }
    }
}

fn as_json(server: &Server, login: Option<&StoredLogin>) -> Value {
    json!({
        "name": server.id.as_str(),
        "status": server.status.word(),
        "well": !is_unhealthy(server),
        "revision": server.agreement.as_ref().map(|agreement| agreement.revision.as_str()),
        "failure": server.status.failure(),
        "login": login,
        "faults": server.offers.faults,
        "noise_lines": server.noise_lines(),
        "findings": server.config.as_ref().map(|config| &config.findings),
    })
}
