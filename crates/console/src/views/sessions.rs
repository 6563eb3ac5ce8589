//! View models of conversations: a list, and one with its turns.

use schemars::JsonSchema;
use serde::Serialize;
use switchboard_agent::{TurnCall, TurnEntry, TurnInput, load_inputs};
use switchboard_core::{Durability, OutcomeKind};
use switchboard_store::{SessionStore, SessionSummary};
use switchboard_text::redact_text;

use crate::console::Console;
use crate::reply::ApiError;

const MAX_LISTED: u32 = 200;

/// A conversation in the list.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SessionRow {
    /// Id of the conversation.
    pub(crate) id: String,
    /// Name of the conversation, or its first words.
    pub(crate) title: String,
    /// Profile of the model.
    pub(crate) model: String,
    /// Working folder of the conversation.
    pub(crate) folder: String,
    /// Time at which it started.
    pub(crate) created_at: String,
    /// Time of the last step.
    pub(crate) changed_at: String,
    /// Number of stored steps.
    pub(crate) steps: u64,
}

/// A conversation with its turns.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SessionShown {
    #[serde(flatten)]
    pub(crate) row: SessionRow,
    /// Messages, calls and notes, in order.
    pub(crate) turns: Vec<Turn>,
}

/// A message, a call or a note in a conversation.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Turn {
    /// Number of the stored step.
    pub(crate) number: u64,
    /// Author: `person`, `model`, `call` or `note`.
    pub(crate) who: &'static str,
    /// Text of the message, or the result of the call.
    pub(crate) text: String,
    /// Name of the called tool.
    pub(crate) name: Option<String>,
    /// Outcome of the call.
    #[schemars(with = "Option<OutcomeKind>")]
    pub(crate) outcome: Option<&'static str>,
    /// Id of the call in the record.
    pub(crate) call: Option<String>,
}

/// Returns the models for a conversation, with the default one first.
pub(crate) fn models(console: &Console) -> Vec<String> {
    if console.models.is_none() {
        return Vec::new();
    }
    let config = console.host.config().load();
    let usual = config.settings.chat.model.clone();
    let others = config.models.keys().filter(|name| usual.as_ref() != Some(name)).cloned();
    usual.iter().cloned().chain(others).collect()
}

pub(crate) async fn sessions(console: &Console) -> Result<Vec<SessionRow>, ApiError> {
    let Some(sessions) = open(console).await? else { return Ok(Vec::new()) };
    let listed = sessions.list(MAX_LISTED).await.map_err(ApiError::internal)?;
    Ok(listed.into_iter().map(row).collect())
}

/// Returns the conversation with this id, name or prefix of an id.
pub(crate) async fn session(console: &Console, word: &str) -> Result<SessionShown, ApiError> {
    let missing = || ApiError::not_found(format!("unknown session `{word}`"));
    let sessions = open(console).await?.ok_or_else(missing)?;
    let found = sessions.find(word).await.map_err(|_| missing())?;
    let entries = load_inputs(&sessions, &found.id).await.map_err(ApiError::internal)?;
    Ok(SessionShown { row: row(found), turns: turns(entries) })
}

/// Opens the session store. Returns `None` if it does not exist yet.
async fn open(console: &Console) -> Result<Option<SessionStore>, ApiError> {
    let file = console.places.state.join("record").join("sessions.db");
    // `SessionStore::open` would create the file, but looking at a page must not write.
    let opening = tokio::task::spawn_blocking(move || {
        file.exists().then(|| SessionStore::open(&file, Durability::Process)).transpose()
    });
    opening.await.map_err(ApiError::internal)?.map_err(ApiError::internal)
}

fn row(session: SessionSummary) -> SessionRow {
    let title = session.name.or(session.opening);
    SessionRow {
        id: session.id.to_string(),
        title: without_secrets(&title.unwrap_or_else(|| "Untitled conversation".to_owned())),
        model: session.model,
        folder: session.folder.display().to_string(),
        created_at: session.created_at.to_string(),
        changed_at: session.changed_at.to_string(),
        steps: session.steps,
    }
}

fn turns(entries: Vec<TurnEntry>) -> Vec<Turn> {
    let mut asked: Vec<TurnCall> = Vec::new();
    let mut turns = Vec::new();
    for entry in entries {
        let number = entry.number;
        let plain = |who, text: String| {
            let text = without_secrets(&text);
            Turn { number, who, text, name: None, outcome: None, call: None }
        };
        turns.extend(match entry.input {
            // Bookkeeping that says nothing to a reader.
            TurnInput::Began { .. } | TurnInput::Decided { .. } => None,
            TurnInput::Said { text, images } => {
                let more = if images.is_empty() { String::new() } else { pictures(images.len()) };
                Some(plain("person", text + &more))
            }
            TurnInput::Answered(answer) => {
                // The results that follow name their calls by position.
                asked = answer.asked;
                Some(plain("model", answer.text)).filter(|turn| !turn.text.trim().is_empty())
            }
            TurnInput::Ended { slot, end } => Some(Turn {
                number,
                who: "call",
                text: without_secrets(&end.text),
                name: asked.get(slot).map(|asked| asked.name.clone()),
                outcome: Some(end.outcome.as_str()),
                call: end.call,
            }),
            TurnInput::NoAnswer(failure) => {
                Some(plain("note", format!("The model did not respond: {}", failure.message)))
            }
            TurnInput::Cancelled(interruption) => {
                Some(plain("note", format!("{}\nStopped by the user.", interruption.heard)))
            }
            TurnInput::Compacted { upto, .. } => {
                Some(plain("note", format!("The first {upto} messages were compacted.")))
            }
            TurnInput::Retried => Some(plain("note", "The model was asked again.".to_owned())),
            TurnInput::Undone { to } => {
                Some(plain("note", format!("Everything after step {to} was undone.")))
            }
        });
    }
    turns
}

fn without_secrets(text: &str) -> String {
    // The store keeps secrets because the model needs the full text; a page does not.
    redact_text(text).into_owned()
}

fn pictures(count: usize) -> String {
    format!("\n({count} {})", if count == 1 { "image" } else { "images" })
}
