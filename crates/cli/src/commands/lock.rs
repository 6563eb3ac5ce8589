//! `switchboard lock`: writes the lock file, or compares it with the current offers.

use std::collections::BTreeMap;
use std::process::Stdio;
use std::time::Duration;

use clap::Args;
use serde_json::json;
use switchboard_catalog::ServerStatus;
use switchboard_config::{Config, ServerConfig, Transport};
use switchboard_host::Host;
use switchboard_terminal::{CliError, exit_code, pluralize};
use switchboard_text::escape_line;
use switchboard_trust::{
    ConfirmedPackages, Evidence, LockFile, LockedPackage, LockedServer, PackageRegistries,
    PackageSpec, fetched_packages, pinnable_definitions, reported_version,
};

use crate::args::ServerArg;
use crate::commands::tools;
use crate::context::CommandContext;

#[derive(Debug, Args)]
pub(crate) struct LockArgs {
    /// Compare the servers with the lock file without writing it
    #[arg(long)]
    check: bool,
}

pub(crate) async fn run(context: &CommandContext, args: &LockArgs) -> Result<u8, CliError> {
    if args.check { check(context).await } else { write(context).await }
}

async fn write(context: &CommandContext) -> Result<u8, CliError> {
    let lock = current_lock(context).await?;
    let path = lock.save()?;
    let count = pluralize(lock.servers.len(), "server");
    context.printer.say(&format!("locked {count} in {}", path.display()));
    Ok(exit_code::OK)
}

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
        context.printer.say("everything matches the lock file");
    } else {
        let lines: Vec<_> = lines.iter().map(|line| escape_line(line)).collect();
        context.printer.data(&lines.join("\n"))?;
    }
    Ok(if lines.is_empty() { exit_code::OK } else { exit_code::NOT_ALLOWED })
}

fn differences(name: &str, old: &LockedServer, new: &LockedServer) -> Vec<String> {
    let mut lines = Vec::new();
    if old.identity != new.identity {
        lines.push(format!("~ {name}: its command or URL has changed"));
    }
    if old.server != new.server {
        let told = |server: &LockedServer| server.server.clone().unwrap_or_default();
        lines.push(format!("~ {name}: {} is now {}", told(old), told(new)));
    }
    for package in &old.packages {
        let shown = package.display_name();
        match new.packages.iter().find(|other| other.name == package.name) {
            None => lines.push(format!("~ {name}: package {shown} can no longer be looked up")),
            Some(now) if now.version != package.version => {
                lines.push(format!("~ {name}: package {shown} is now {}", now.version));
            }
            Some(now) if now != package => {
                lines.push(format!("~ {name}: package {shown} has a different digest"));
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

/// Locks the current offers of all servers; fails if a server is not ready or not fully approved.
async fn current_lock(context: &CommandContext) -> Result<LockFile, CliError> {
    let host = tools::start(context, &ServerArg::default()).await?;
    let lock = gather(context, &host);
    let config = host.config().load();
    host.stop().await;
    let mut lock = lock?;
    let registries = registries(context, &config).await;
    for (name, locked) in &mut lock.servers {
        if let Some(server) = config.servers.get(name.as_str()) {
            locked.packages = locked_packages(context, &registries, server).await;
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
                    .with_hint(format!("`switchboard doctor {id}` shows details")));
            }
        }
        // With `--locked`, definitions that differ from the lock file are held; `--check` lists them.
        if held.servers.contains_key(id) && !context.shared.locked {
            let message = format!("server `{id}` has unapproved definitions");
            return Err(CliError::new(exit_code::NOT_ALLOWED, message).with_hint(format!(
                "review `switchboard pins diff {id}`, then run `switchboard pins approve {id}`"
            )));
        }
        lock.insert(config, reported_version(server), &pinnable_definitions(server));
    }
    Ok(lock)
}

/// How long a package manager may take to print its registry.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(20);

/// Looks up a server's packages in their registries; warns of failed lookups and leaves them out.
pub(crate) async fn locked_packages(
    context: &CommandContext,
    registries: &PackageRegistries,
    server: &ServerConfig,
) -> Vec<LockedPackage> {
    let mut found = Vec::new();
    for wanted in fetched_packages(server) {
        match registries.look_up(&wanted).await {
            Ok(package) => found.push(package),
            Err(why) => {
                let name = escape_line(&wanted.name);
                let message = format!("package `{name}` of server `{}` is not locked", server.id);
                context.printer.warn(&format!("{message}: {}", escape_line(&why)), None);
            }
        }
    }
    found
}

/// Returns the servers that must not start: a package is not provably the locked one.
pub(crate) async fn refusals(
    context: &CommandContext,
    config: &Config,
    lock: &LockFile,
) -> BTreeMap<String, String> {
    let mut refused = BTreeMap::new();
    let mut registries = None;
    let confirmed = ConfirmedPackages::load(&context.places.state);
    for server in config.servers.values() {
        let Some(locked) = lock.servers.get(server.id.as_str()) else { continue };
        for package in &locked.packages {
            let why = match package.evidence(server, &context.environment, &confirmed) {
                Evidence::Same => continue,
                Evidence::Other => Some("was fetched with a different digest".to_owned()),
                Evidence::None => {
                    // Finding the registries starts package managers, so do it only if evidence is
                    // missing.
                    if registries.is_none() {
                        registries = Some(self::registries(context, config).await);
                    }
                    let known = registries.as_ref();
                    let different =
                        different(known.unwrap_or(&PackageRegistries::default()), server, package)
                            .await;
                    if different.is_none() {
                        keep(context, server, package);
                    }
                    different
                }
            };
            if let Some(why) = why {
                let shown = package.display_name();
                let message = format!("package `{shown}` does not match the lock file: it {why}");
                refused.insert(server.id.to_string(), message);
            }
        }
    }
    refused
}

/// Records the unpacked files of a package that matches the lock.
fn keep(context: &CommandContext, server: &ServerConfig, package: &LockedPackage) {
    // The next start then finds evidence on disk and does not need the registry.
    let unpacked = package.unpacked_digests(server, &context.environment);
    if let Err(error) = ConfirmedPackages::confirm(&context.places.state, package, unpacked) {
        context.printer.warn(&error.to_string(), None);
    }
}

async fn different(
    registries: &PackageRegistries,
    server: &ServerConfig,
    locked: &LockedPackage,
) -> Option<String> {
    let is_same = |spec: &PackageSpec| spec.name == locked.name;
    let Some(wanted) = fetched_packages(server).into_iter().find(is_same) else {
        return Some("is no longer fetched".to_owned());
    };
    match registries.look_up(&wanted).await {
        Ok(now) if now == *locked => None,
        Ok(now) if now.version != locked.version => Some(format!("is now {}", now.version)),
        Ok(_) => Some("now has a different digest".to_owned()),
        // Fail closed: an attacker who can block the registry must not bypass the lock.
        Err(why) => Some(format!("cannot be checked: {why}")),
    }
}

/// Finds the registries: from the variables of the package managers, or by running them.
pub(crate) async fn registries(context: &CommandContext, config: &Config) -> PackageRegistries {
    let wanted: Vec<PackageSpec> = config.servers.values().flat_map(fetched_packages).collect();
    let needs = |ecosystem: &str| wanted.iter().any(|spec| spec.ecosystem == ecosystem);
    let named = |names: &[&str]| {
        let values = names.iter().filter_map(|name| context.environment.variable(name));
        values.map(str::trim).find(|value| !value.is_empty()).map(str::to_owned)
    };
    let mut registries = PackageRegistries::default();
    if needs("npm") {
        // npm accepts its variables in either case.
        registries.npm = named(&["npm_config_registry", "NPM_CONFIG_REGISTRY"]);
        if registries.npm.is_none() {
            registries.npm = printed_address(&["npm", "config", "get", "registry"]).await;
        }
    }
    if needs("PyPI") {
        registries.pypi = named(&["UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL"]);
        if registries.pypi.is_none() {
            registries.pypi = printed_address(&["pip", "config", "get", "global.index-url"]).await;
        }
    }
    registries
}

async fn printed_address(words: &[&str]) -> Option<String> {
    let (program, arguments) = words.split_first()?;
    let mut command = tokio::process::Command::new(program);
    // A package manager may prompt; without input it cannot hang this command.
    command.args(arguments).stdin(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    let output = tokio::time::timeout(LOOKUP_TIMEOUT, command.output()).await.ok()?.ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    Some(text.trim().to_owned()).filter(|text| text.starts_with("http"))
}
