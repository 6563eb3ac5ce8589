//! Shows what a server wrote to its standard error, and the messages that it sent.

use std::path::Path;

use switchboard_fleet::{ServerMessage, log_file, messages_file};
use switchboard_terminal::{CliError, exit_code};
use switchboard_text::{escape_line, escape_prose};

use crate::context::CommandContext;

/// Shows the last lines of a server's log.
pub(crate) fn show(context: &CommandContext, name: &str, lines: usize) -> Result<u8, CliError> {
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

/// Shows the last messages of a server.
pub(crate) fn messages(context: &CommandContext, name: &str, lines: usize) -> Result<u8, CliError> {
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
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => {
            let message = format!("cannot read `{}`: {error}", file.display());
            Err(CliError::new(exit_code::TROUBLE, message))
        }
    }
}
