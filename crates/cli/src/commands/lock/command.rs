//! Writes what the servers offer into the lock file, or says what is different from it.

use clap::Args;
use serde_json::json;
use switchboard_catalog::ServerStatus;
use switchboard_config::Transport;
use switchboard_host::Host;
use switchboard_terminal::{CliError, exit_code};
use switchboard_text::escape_line;
use switchboard_trust::{LockFile, LockedServer, pinnable_definitions, reported_version};

use crate::args::ServerArg;
use crate::commands::lock::packages;
use crate::commands::tools;
use crate::context::CommandContext;

#[derive(Debug, Args)]
pub(crate) struct LockArgs {
    /// Write nothing; say what is different from the file
    #[arg(long)]
    check: bool,
}

/// Runs `switchboard lock`.
pub(crate) async fn run(context: &CommandContext, args: &LockArgs) -> Result<u8, CliError> {
    if args.check { check(context).await } else { write(context).await }
}

/// Writes the lock file.
async fn write(context: &CommandContext) -> Result<u8, CliError> {
    let lock = current_lock(context).await?;
    let path = lock.save()?;
    let count = lock.servers.len();
    context.printer.say(&format!("{count} servers are locked in {}", path.display()));
    Ok(exit_code::OK)
}

/// Says what is different from the lock file.
async fn check(context: &CommandContext) -> Result<u8, CliError> {
    let locked = LockFile::load(&context.lock_folder())?;
    let now = current_lock(context).await?;
    let mut lines = Vec::new();
    let names: std::collections::BTreeSet<&String> =
        locked.servers.keys().chain(now.servers.keys()).collect();
    for name in names {
        match (locked.servers.get(name), now.servers.get(name)) {
            (Some(old), Some(new)) => lines.extend(differences(name, old, new)),
            (Some(_), None) => lines.push(format!("- {name}")),
            (None, Some(_)) => lines.push(format!("+ {name}")),
            (None, None) => {}
        }
    }
    if context.printer.json {
        context.printer.json(&json!({"same": lines.is_empty(), "different": lines}))?;
    } else if lines.is_empty() {
        context.printer.say("all is as the lock file says");
    } else {
        let lines: Vec<_> = lines.iter().map(|line| escape_line(line)).collect();
        context.printer.data(&lines.join("\n"))?;
    }
    Ok(if lines.is_empty() { exit_code::OK } else { exit_code::NOT_ALLOWED })
}

fn differences(name: &str, old: &LockedServer, new: &LockedServer) -> Vec<String> {
    let mut lines = Vec::new();
    if old.identity != new.identity {
        lines.push(format!("~ {name}: it is reached in another way"));
    }
    if old.server != new.server {
        let told = |server: &LockedServer| server.server.clone().unwrap_or_default();
        lines.push(format!("~ {name}: {} is {} now", told(old), told(new)));
    }
    for package in &old.packages {
        let shown = package.display_name();
        match new.packages.iter().find(|other| other.name == package.name) {
            None => lines.push(format!("~ {name}: nothing is known of package {shown}")),
            Some(now) if now.version != package.version => {
                lines.push(format!("~ {name}: package {shown} is {} now", now.version));
            }
            Some(now) if now != package => {
                lines.push(format!("~ {name}: package {shown} has another digest"));
            }
            Some(_) => {}
        }
    }
    for kind in switchboard_trust::PinKind::ALL {
        let of = |server: &LockedServer| server.definitions.get(&kind).cloned().unwrap_or_default();
        let old = of(old);
        let new = of(new);
        for (item, digest) in &old {
            match new.get(item) {
                None => lines.push(format!("- {} {name}/{item}", kind.as_str())),
                Some(other) if other != digest => {
                    lines.push(format!("~ {} {name}/{item}", kind.as_str()));
                }
                Some(_) => {}
            }
        }
        let added = new.keys().filter(|item| !old.contains_key(*item));
        lines.extend(added.map(|item| format!("+ {} {name}/{item}", kind.as_str())));
    }
    lines
}

/// What the servers offer at this moment; a server that does not answer is an error.
async fn current_lock(context: &CommandContext) -> Result<LockFile, CliError> {
    let host = tools::start(context, &ServerArg::default()).await?;
    let lock = gather(context, &host);
    let config = host.config().load();
    host.stop().await;
    let mut lock = lock?;
    let registries = packages::registries(context, &config).await;
    for (name, locked) in &mut lock.servers {
        if let Some(server) = config.servers.get(name.as_str()) {
            locked.packages = packages::locked_packages(context, &registries, server).await;
        }
    }
    Ok(lock)
}

fn gather(context: &CommandContext, host: &Host) -> Result<LockFile, CliError> {
    let mut lock = LockFile::new(context.lock_folder());
    let fleet = host.fleet().load();
    let held = host.quarantine().load();
    for (id, server) in &fleet.servers {
        let Some(config) = server.config.as_ref().filter(|it| it.transport != Transport::Builtin)
        else {
            continue;
        };
        match &server.status {
            ServerStatus::Disabled => continue,
            ServerStatus::Ready => {}
            status => {
                let message = format!("server `{id}` is {}, so it cannot be locked", status.word());
                return Err(CliError::new(exit_code::NOT_RUN, message)
                    .with_hint(format!("`switchboard doctor {id}` tells more")));
            }
        }
        if held.servers.contains_key(id) && !context.shared.locked {
            let message = format!("server `{id}` has definitions that nobody approved");
            return Err(CliError::new(exit_code::NOT_ALLOWED, message).with_hint(format!(
                "`switchboard pins diff {id}`, then `switchboard pins approve {id}`"
            )));
        }
        lock.insert(config, reported_version(server), &pinnable_definitions(server));
    }
    Ok(lock)
}
