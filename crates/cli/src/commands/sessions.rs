//! `switchboard sessions`: lists, shows, renames, exports, deletes and forks conversations.

use std::io::IsTerminal as _;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use serde_json::json;
use switchboard_agent::{as_json, as_markdown, fork, load_inputs};
use switchboard_chat::{open_error, open_sessions};
use switchboard_store::{SessionStore, SessionSummary};
use switchboard_terminal::{CliError, ask_line, exit_code};
use switchboard_text::escape_prose;

use crate::context::CommandContext;

#[derive(Debug, Args)]
pub(crate) struct SessionsArgs {
    #[command(subcommand)]
    pub(crate) command: Option<SessionsCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SessionsCommand {
    /// List conversations, last changed first
    #[command(visible_alias = "ls")]
    List {
        /// Maximum number of conversations to list
        #[arg(long, short = 'n', default_value_t = 20)]
        limit: u32,
    },
    /// Show the messages of a conversation
    Show {
        /// Id, id prefix or name of the conversation, or `last`
        session: String,
    },
    /// Give a conversation a name
    Rename {
        /// Id, id prefix or name of the conversation, or `last`
        session: String,
        /// New name of the conversation
        name: String,
    },
    /// Export a conversation to a file or to standard output
    Export {
        /// Id, id prefix or name of the conversation, or `last`
        session: String,
        /// Format of the exported conversation
        #[arg(long, short, value_enum, default_value_t = ExportForm::Markdown)]
        form: ExportForm,
        /// File to write instead of standard output
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Delete a conversation permanently
    #[command(visible_alias = "rm")]
    Delete {
        /// Id, id prefix or name of the conversation, or `last`
        session: String,
        /// Delete without asking for confirmation
        #[arg(long, short)]
        yes: bool,
    },
    /// Start a new conversation from the steps of another one
    Fork {
        /// Id, id prefix or name of the conversation, or `last`
        session: String,
        /// Last step to copy (default: all steps)
        #[arg(long, value_name = "STEP")]
        step: Option<u64>,
        /// Name of the new conversation
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportForm {
    /// Readable text for people
    Markdown,
    /// Every step, for programs
    Json,
}

pub(crate) async fn run(context: &CommandContext, args: SessionsArgs) -> Result<u8, CliError> {
    let sessions = open_sessions(&context.places.state, context.recording(), &context.config()?)?;
    match args.command.unwrap_or(SessionsCommand::List { limit: 20 }) {
        SessionsCommand::List { limit } => list(context, &sessions, limit).await?,
        SessionsCommand::Show { session } => {
            let found = sessions.find(&session).await?;
            let entries = load_inputs(&sessions, &found.id).await.map_err(open_error)?;
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
            context.printer.say(&format!("renamed session {} to `{}`", found.id, name.trim()));
        }
        SessionsCommand::Export { session, form, output } => {
            let found = sessions.find(&session).await?;
            let entries = load_inputs(&sessions, &found.id).await.map_err(open_error)?;
            let text = match form {
                ExportForm::Markdown => as_markdown(&found, entries),
                ExportForm::Json => format!("{:#}\n", as_json(&found, &entries)),
            };
            match output {
                Some(file) => {
                    std::fs::write(&file, text)?;
                    context.printer.say(&format!("wrote {}", file.display()));
                }
                // A terminal could interpret control characters of a model or a server; a file gets
                // them as they are.
                None if context.printer.terminal => context.printer.data(&escape_prose(&text))?,
                None => context.printer.data(&text)?,
            }
        }
        SessionsCommand::Delete { session, yes } => {
            delete(context, &sessions, &session, yes).await?;
        }
        SessionsCommand::Fork { session, step, name } => {
            let found = sessions.find(&session).await?;
            let fork = fork(&sessions, &found.id, step.unwrap_or(found.steps), name)
                .await
                .map_err(open_error)?;
            if context.printer.json {
                context.printer.json(&json!({ "session": fork.to_string() }))?;
            } else {
                context.printer.data(&fork.to_string())?;
            }
        }
    }
    Ok(exit_code::OK)
}

async fn list(
    context: &CommandContext,
    sessions: &SessionStore,
    limit: u32,
) -> Result<(), CliError> {
    let all = sessions.list(limit).await?;
    if all.is_empty() && !context.printer.json {
        context.printer.say("no conversations yet");
    }
    let heading = ["session", "changed", "model", "steps", "about"];
    context.printer.list(&all, as_row, heading, |session| {
        let about = session.name.clone().or_else(|| session.opening.clone());
        [
            session.id.to_string(),
            session.changed_at.strftime("%Y-%m-%d %H:%M").to_string(),
            session.model.clone(),
            session.steps.to_string(),
            about.unwrap_or_default(),
        ]
    })
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
    context: &CommandContext,
    sessions: &SessionStore,
    word: &str,
    yes: bool,
) -> Result<(), CliError> {
    let found = sessions.find(word).await?;
    // Do not delete a conversation that is open in another process.
    let _held = sessions.lock_session(&found.id)?;
    if !yes {
        if !std::io::stdin().is_terminal() {
            let message = "confirmation needed, but there is no terminal to ask on";
            return Err(CliError::usage(message).with_hint("pass `--yes` to delete it"));
        }
        let question = format!("Delete session {} with {} steps? [y/N] ", found.id, found.steps);
        let answer = ask_line(&question).await;
        if !matches!(answer.as_deref().map(str::trim), Some("y" | "yes")) {
            context.printer.say("nothing was deleted");
            return Ok(());
        }
    }
    sessions.delete(&found.id).await?;
    context.printer.say(&format!("deleted session {}", found.id));
    Ok(())
}
