//! What a person answered "always" to: listed, and taken back.

use serde_json::{Value, json};
use switchboard_config::remove_auto_approve;
use switchboard_terminal::{CliError, exit_code, table};
use switchboard_text::escape_line;
use switchboard_trust::AlwaysAnswers;

use crate::context::CommandContext;

/// Lists what is always allowed by an answer.
pub(crate) fn list(context: &CommandContext) -> Result<u8, CliError> {
    let remembered = AlwaysAnswers::load(&context.places.state)?;
    let all = remembered
        .always
        .iter()
        .flat_map(|(server, tools)| tools.iter().map(move |(tool, bound)| (server, tool, bound)));
    if context.printer.json {
        let all: Vec<Value> = all
            .map(|(server, tool, bound)| {
                json!({"server": server, "tool": tool, "digest": bound.digest})
            })
            .collect();
        context.printer.json(&all)?;
        return Ok(exit_code::OK);
    }
    let rows: Vec<[String; 3]> = all
        .map(|(server, tool, bound)| {
            [server.clone(), tool.clone(), bound.digest.chars().take(12).collect()]
        })
        .collect();
    if rows.is_empty() {
        context.printer.say("nothing is remembered");
        return Ok(exit_code::OK);
    }
    context.printer.data(&table(
        context.printer.reader(),
        ["server", "tool", "definition"],
        &rows,
    ))?;
    Ok(exit_code::OK)
}

/// Takes an answer back: the tool is asked about again.
pub(crate) fn forget(context: &CommandContext, server: &str, tool: &str) -> Result<u8, CliError> {
    let remembered = AlwaysAnswers::load(&context.places.state)?;
    if remembered.always.get(server).is_none_or(|tools| !tools.contains_key(tool)) {
        let message = format!("nothing is remembered of `{server}/{tool}`");
        return Err(
            CliError::usage(message).with_hint("`switchboard review remembered` lists what is")
        );
    }
    let config = context.config()?;
    let source = config.servers.get(server).map(|server| server.source.file.clone());
    let source = source.filter(|file| !file.as_os_str().is_empty());
    // The list first: without what it was said to, the name there would hold for anything.
    if let Some(file) = source.or_else(|| context.places.user.clone()) {
        remove_auto_approve(&file, server, tool)?;
    }
    AlwaysAnswers::set(&context.places.state, server, tool, None)?;
    let server = escape_line(server);
    let tool = escape_line(tool);
    context.printer.say(&format!("`{server}/{tool}` is asked about again"));
    Ok(exit_code::OK)
}
