//! Lists, shows, names, writes out, deletes and forks conversations.

use std::io::IsTerminal as _;

use serde_json::json;
use switchboard_agent::{as_json, as_markdown, fork, kept_inputs};
use switchboard_host::format::escape_prose;
use switchboard_host::record::{SessionSummary, Sessions};

use crate::args_chat::{ExportForm, SessionsCommand};
use crate::chat::open;
use crate::context::Context;
use crate::error::CliError;
use crate::exit_code;
use crate::ui::ask;
use crate::ui::table::table;

/// Does what is wanted with conversations.
pub(crate) async fn sessions(context: &Context, command: SessionsCommand) -> Result<u8, CliError> {
    let sessions = open::sessions(context, &context.config()?)?;
    match command {
        SessionsCommand::List { limit } => list(context, &sessions, limit).await?,
        SessionsCommand::Show { session } => {
            let found = sessions.find(&session).await?;
            let entries = kept_inputs(&sessions, &found.id).await?;
            if context.printer.json {
                context.printer.json(&as_json(&found, &entries))?;
            } else {
                let text = as_markdown(&found, entries);
                context.printer.data(&escape_prose(&text))?;
            }
        }
        SessionsCommand::Rename { session, name } => {
            let found = sessions.find(&session).await?;
            sessions.rename(&found.id, &name).await?;
            context.printer.say(&format!("session {} is `{name}` now", found.id));
        }
        SessionsCommand::Export { session, form, output } => {
            let found = sessions.find(&session).await?;
            let entries = kept_inputs(&sessions, &found.id).await?;
            let text = match form {
                ExportForm::Markdown => as_markdown(&found, entries),
                ExportForm::Json => format!("{:#}\n", as_json(&found, &entries)),
            };
            match output {
                Some(file) => {
                    std::fs::write(&file, text)?;
                    context.printer.say(&format!("wrote {}", file.display()));
                }
                None if context.printer.terminal => context.printer.data(&escape_prose(&text))?,
                None => context.printer.data(&text)?,
            }
        }
        SessionsCommand::Delete { session, yes } => {
            delete(context, &sessions, &session, yes).await?;
        }
        SessionsCommand::Fork { session, step, name } => {
            let found = sessions.find(&session).await?;
            let fork = fork(&sessions, &found.id, step.unwrap_or(found.steps), name).await?;
            if context.printer.json {
                context.printer.json(&json!({ "session": fork.to_string() }))?;
            } else {
                context.printer.data(&fork.to_string())?;
            }
        }
    }
    Ok(exit_code::OK)
}

async fn list(context: &Context, sessions: &Sessions, limit: u32) -> Result<(), CliError> {
    let all = sessions.list(limit).await?;
    if context.printer.json {
        let rows: Vec<_> = all.iter().map(as_row).collect();
        return context.printer.json(&rows);
    }
    if all.is_empty() {
        context.printer.say("there is no conversation yet");
    }
    let rows: Vec<[String; 5]> = all
        .iter()
        .map(|session| {
            let about = session.name.clone().or_else(|| session.opening.clone());
            [
                session.id.to_string(),
                session.changed_at.strftime("%Y-%m-%d %H:%M").to_string(),
                session.model.clone(),
                session.steps.to_string(),
                about.unwrap_or_default(),
            ]
        })
        .collect();
    let heading = ["session", "changed", "model", "steps", "about"];
    context.printer.data(&table(context.printer.reader(), heading, &rows))
}

fn as_row(session: &SessionSummary) -> serde_json::Value {
    json!({
        "session": session.id.to_string(),
        "name": session.name,
        "opening": session.opening,
        "model": session.model,
        "folder": session.folder.display().to_string(),
        "created": session.created_at.to_string(),
        "changed": session.changed_at.to_string(),
        "steps": session.steps,
        "parent": session.parent.as_ref().map(|(id, step)| {
            json!({ "session": id.to_string(), "step": step })
        }),
    })
}

async fn delete(
    context: &Context,
    sessions: &Sessions,
    word: &str,
    yes: bool,
) -> Result<(), CliError> {
    let found = sessions.find(word).await?;
    // Nobody's conversation is taken away while it is held.
    let _held = sessions.hold(&found.id)?;
    if !yes {
        if !std::io::stdin().is_terminal() {
            return Err(CliError::usage("deleting needs a person's yes").with_hint("add --yes"));
        }
        let question = format!("Delete session {} with {} steps? [y/N] ", found.id, found.steps);
        let answer = ask::line(&question).await;
        if !matches!(answer.as_deref().map(str::trim), Some("y" | "yes")) {
            context.printer.say("nothing was deleted");
            return Ok(());
        }
    }
    sessions.delete(&found.id).await?;
    context.printer.say(&format!("deleted session {}", found.id));
    Ok(())
}
