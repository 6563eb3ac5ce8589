//! The entries to export: the configured servers, or one entry for the gateway.

use std::collections::BTreeMap;
use std::path::Path;

use switchboard_config::Config;
use switchboard_core::ServerId;
use switchboard_dialects::{EntryHttpKind, EntryTransport, ServerEntry, VariableText, read_ours};
use switchboard_terminal::{CliError, exit_code};
use switchboard_vetting::EntryFinding;

use crate::commands::dialects::sources::read_text;
use crate::context::CommandContext;

const GATEWAY_NAME: &str = "switchboard";

/// Returns the entries of the named servers, or of all, as written in their files.
pub(super) fn servers(
    context: &CommandContext,
    names: &[String],
) -> Result<Vec<ServerEntry>, CliError> {
    let config = context.silent_config();
    let wanted: Vec<ServerId> = match names {
        [] => config.servers.keys().chain(config.broken.keys()).cloned().collect(),
        names => {
            let known = names.iter().map(|name| context.server_id(&config, name.trim()));
            known.collect::<Result<_, _>>()?
        }
    };
    // Unapproved servers are left out: the other product would run them without asking.
    let mut entries = Vec::new();
    for id in wanted {
        let is_named = !names.is_empty();
        match entry(context, &config, &id) {
            Ok(Some(entry)) => entries.push(entry),
            Ok(None) if is_named => context.printer.warn(&format!("`{id}` is built in"), None),
            Ok(None) => {}
            Err((why, hint)) => {
                context.printer.warn(&format!("`{id}` is not exported: {why}"), Some(&hint));
            }
        }
    }
    if entries.is_empty() {
        let error = CliError::new(exit_code::CONFIG, "no server to export");
        return Err(error.with_hint("`switchboard servers` lists the configured servers"));
    }
    Ok(entries)
}

/// Returns the entry of a server as written in its file; `None` if it is built in.
fn entry(
    context: &CommandContext,
    config: &Config,
    id: &ServerId,
) -> Result<Option<ServerEntry>, (String, String)> {
    let unapproved =
        || ("it is not approved".to_owned(), format!("`switchboard servers approve {id}`"));
    let file: &Path = match (config.servers.get(id), config.broken.get(id)) {
        (Some(server), _) if server.source.file.as_os_str().is_empty() => return Ok(None),
        (Some(server), _) if !server.approved => return Err(unapproved()),
        (Some(server), _) => &server.source.file,
        // The entry may be broken only by a missing variable that the other product does have.
        (None, Some(error)) if Some(&*error.file) != context.places.project.as_deref() => {
            &error.file
        }
        (None, _) => return Err(unapproved()),
    };
    let look = || ("its entry cannot be read".to_owned(), format!("`switchboard doctor {id}`"));
    let text = read_text(file).ok().flatten().ok_or_else(look)?;
    let all = read_ours(&text).map_err(|_| look())?.entries;
    let entry = all.into_iter().rfind(|entry| entry.name == id.as_str()).ok_or_else(look)?;
    // A broken entry was never vetted, so check it here.
    if !config.servers.contains_key(id) {
        let (name, value, _) = entry.to_ours();
        let findings =
            switchboard_config::entry_findings(file, &name, &value).map_err(|_| look())?;
        if findings.iter().any(EntryFinding::is_danger) {
            return Err(unapproved());
        }
    }
    Ok(Some(entry))
}

pub(super) fn gateway(
    context: &CommandContext,
    url: Option<&str>,
) -> Result<ServerEntry, CliError> {
    if let Some(url) = url {
        if !url.starts_with("http://") && !url.starts_with("https://") {
            let error = CliError::usage(format!("`{url}` is not a URL of the gateway"));
            return Err(error.with_hint("write `--url http://127.0.0.1:8808/mcp`"));
        }
        return Ok(ServerEntry::address(GATEWAY_NAME, url, EntryHttpKind::Streamable));
    }
    let program = std::env::current_exe()?;
    // Desktop applications do not have the `PATH` of a shell, so use the absolute path.
    let program = program.to_str().ok_or_else(|| {
        CliError::new(exit_code::TROUBLE, "the path of this program is not valid Unicode")
    })?;
    let mut args = vec![VariableText::literal("serve"), VariableText::literal("--stdio")];
    for file in &context.shared.config {
        let file = context.environment.current_dir.join(file);
        args.push(VariableText::literal("--config"));
        args.push(VariableText::literal(file.display().to_string()));
    }
    let mut env = BTreeMap::new();
    // The other product does not inherit this shell's environment.
    if let Some(home) = context.environment.variable("SWITCHBOARD_HOME") {
        let home = context.environment.current_dir.join(home);
        let home = VariableText::literal(home.display().to_string());
        env.insert("SWITCHBOARD_HOME".to_owned(), home);
    }
    let command = VariableText::literal(program);
    Ok(ServerEntry::new(
        GATEWAY_NAME,
        EntryTransport::Stdio { command, args, env, env_file: None, cwd: None },
    ))
}
