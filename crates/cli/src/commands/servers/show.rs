//! Shows a server's entry, log and messages, without starting the server.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::json;
use switchboard_config::{ConfigLayer, ServerConfig, diff_lines};
use switchboard_fleet::{ServerMessage, log_file, messages_file};
use switchboard_terminal::{CliError, exit_code, finding_line};
use switchboard_text::{escape_line, escape_prose, redact_text};
use switchboard_trust::Approvals;

use crate::commands::servers::edit::unreadable;
use crate::context::CommandContext;

pub(crate) fn show(context: &CommandContext, name: &str) -> Result<u8, CliError> {
    let config = context.config()?;
    let id = context.server_id(&config, name)?;
    let Some(server) = config.servers.get(&id) else {
        let problem = config.broken.get(&id).cloned();
        return Err(problem.map_or_else(|| unreadable(name), CliError::from));
    };
    let lines: Vec<String> = server.lines().iter().map(|line| clean(line)).collect();
    let changed = changes(context, server);
    if context.printer.json {
        context.printer.json(&json!({
            "name": name,
            "file": server.source.file,
            "line": server.source.line,
            "layer": layer(server.source.layer),
            "approved": server.approved,
            "disabled": server.disabled,
            "entry": lines,
            "findings": server.findings,
            "changed_since_approval": changed,
        }))?;
        return Ok(exit_code::OK);
    }
    let mut text = String::new();
    // Writing to a `String` cannot fail.
    let file = server.source.file.display().to_string();
    _ = writeln!(text, "{} ({}, line {})", clean(name), clean(&file), server.source.line);
    for line in &lines {
        _ = writeln!(text, "    {line}");
    }
    for finding in &server.findings {
        _ = writeln!(text, "    {}", finding_line(finding));
    }
    for line in &changed {
        _ = writeln!(text, "  {line}");
    }
    _ = writeln!(text, "    {}", if server.approved { "approved" } else { "not approved" });
    context.printer.data(&text).map(|()| exit_code::OK)
}

pub(crate) fn changes(context: &CommandContext, server: &ServerConfig) -> Vec<String> {
    let approvals = Approvals::load(&context.places.state);
    let Some(before) = approvals.approved_text(&server.source.file, &server.id) else {
        return Vec::new();
    };
    let before: Vec<String> = before.lines().map(str::to_owned).collect();
    let found = diff_lines(&before, &server.lines());
    found.iter().map(|line| clean(line)).collect()
}

fn clean(line: &str) -> String {
    escape_line(&redact_text(line)).into_owned()
}

const fn layer(layer: ConfigLayer) -> &'static str {
    match layer {
        ConfigLayer::User => "user",
        ConfigLayer::Project => "project",
        ConfigLayer::Explicit => "explicit",
    }
}

pub(super) fn log(context: &CommandContext, name: &str, lines: usize) -> Result<u8, CliError> {
    let config = context.config()?;
    let id = context.server_id(&config, name)?;
    let file = log_file(&context.places.state, &id);
    let Some(text) = read(&file)? else {
        context.printer.say(&format!("server `{name}` has written nothing yet"));
        return Ok(exit_code::OK);
    };
    let all: Vec<&str> = text.lines().collect();
    let tail = all.get(all.len().saturating_sub(lines)..).unwrap_or_default();
    if context.printer.json {
        context.printer.json(&tail)?;
    } else {
        context.printer.data(&escape_prose(&tail.join("\n")))?;
    }
    Ok(exit_code::OK)
}

pub(super) fn messages(context: &CommandContext, name: &str, lines: usize) -> Result<u8, CliError> {
    let config = context.config()?;
    let id = context.server_id(&config, name)?;
    let Some(text) = read(&messages_file(&context.places.state, &id))? else {
        context.printer.say(&format!("server `{name}` has sent no messages yet"));
        return Ok(exit_code::OK);
    };
    let all: Vec<ServerMessage> =
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let tail = all.get(all.len().saturating_sub(lines)..).unwrap_or_default();
    if context.printer.json {
        context.printer.json(&tail)?;
    } else {
        let shown: Vec<String> = tail.iter().map(line).collect();
        context.printer.data(&shown.join("\n"))?;
    }
    Ok(exit_code::OK)
}

fn line(message: &ServerMessage) -> String {
    let ServerMessage { at, level, logger, text } = message;
    let at = escape_line(at);
    let level = escape_line(level);
    let text = escape_line(text);
    match logger {
        Some(logger) => format!("{at} {level} [{}] {text}", escape_line(logger)),
        None => format!("{at} {level} {text}"),
    }
}

fn read(file: &Path) -> Result<Option<String>, CliError> {
    match std::fs::read(file) {
        // Servers write any bytes to standard error, so invalid UTF-8 is replaced.
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => {
            let message = format!("cannot read `{}`: {error}", file.display());
            Err(CliError::new(exit_code::TROUBLE, message))
        }
    }
}
