//! View models of conversations: a list, and one with its turns.

use schemars::JsonSchema;
use serde::Serialize;
use switchboard_agent::{TurnCall, TurnEntry, TurnInput, load_inputs};
use switchboard_core::{Durability, OutcomeKind};
use switchboard_store::{SessionStore, SessionSummary};
use switchboard_text::redact_text;

use crate::console::Console;
use crate::reply::ApiError;

/// Maximum number of conversations in a list.
const MAX_LISTED: u32 = 200;

/// A conversation in a list.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SessionRow {
    /// Its name.
    pub(crate) id: String,
    /// What it is called, or its first words.
    pub(crate) title: String,
    /// The profile of its model.
    pub(crate) model: String,
    /// The folder that it is about.
    pub(crate) folder: String,
    /// When it began.
    pub(crate) created_at: String,
    /// When something happened in it last.
    pub(crate) changed_at: String,
    /// How many steps it has.
    pub(crate) steps: u64,
}

/// A conversation.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SessionShown {
    #[serde(flatten)]
    pub(crate) row: SessionRow,
    /// What was said and done, in order.
    pub(crate) turns: Vec<Turn>,
}

/// One thing that was said or done.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Turn {
    /// The step under which it is kept.
    pub(crate) number: u64,
    /// `person`, `model`, `call` or `note`.
    pub(crate) who: &'static str,
    /// What was said, or what came of a call.
    pub(crate) text: String,
    /// What was called.
    pub(crate) name: Option<String>,
    /// How a call ended.
    #[schemars(with = "Option<OutcomeKind>")]
    pub(crate) outcome: Option<&'static str>,
    /// The number of the call in the record.
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
    let listed = sessions.list(MAX_LISTED).await;
    let listed = listed.map_err(|error| ApiError::internal(error.to_string()))?;
    Ok(listed.into_iter().map(row).collect())
}

/// Returns the conversation with this id, name or prefix of an id.
pub(crate) async fn session(console: &Console, word: &str) -> Result<SessionShown, ApiError> {
    let missing = || ApiError::not_found(format!("there is no session `{word}`"));
    let sessions = open(console).await?.ok_or_else(missing)?;
    let found = sessions.find(word).await.map_err(|_| missing())?;
    let entries = load_inputs(&sessions, &found.id).await;
    let entries = entries.map_err(|error| ApiError::internal(error.to_string()))?;
    Ok(SessionShown { row: row(found), turns: turns(entries) })
}

/// Opens the session store. Returns `None` if it does not exist yet, instead of creating it.
async fn open(console: &Console) -> Result<Option<SessionStore>, ApiError> {
    let file = console.places.state.join("record").join("sessions.db");
    let opening = tokio::task::spawn_blocking(move || {
        file.exists().then(|| SessionStore::open(&file, Durability::Process)).transpose()
    });
    let opened = opening.await.map_err(|error| ApiError::internal(error.to_string()))?;
    opened.map_err(|error| ApiError::internal(error.to_string()))
}

fn row(session: SessionSummary) -> SessionRow {
    let title = session.name.or(session.opening);
    SessionRow {
        id: session.id.to_string(),
        title: without_secrets(&title.unwrap_or_else(|| "A conversation".to_owned())),
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
            TurnInput::Began { .. } | TurnInput::Decided { .. } => None,
            TurnInput::Said { text, images } => {
                let more = if images.is_empty() { String::new() } else { pictures(images.len()) };
                Some(plain("person", text + &more))
            }
            TurnInput::Answered(answer) => {
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
                Some(plain("note", format!("The model could not be asked: {}", failure.message)))
            }
            TurnInput::Cancelled(interruption) => {
                Some(plain("note", format!("{}\nStopped by the person.", interruption.heard)))
            }
            TurnInput::Compacted { upto, .. } => {
                Some(plain("note", format!("The first {upto} messages were cut for the model.")))
            }
            TurnInput::Retried => Some(plain("note", "The model was asked once more.".to_owned())),
            TurnInput::Undone { to } => {
                Some(plain("note", format!("Everything after step {to} was taken back.")))
            }
        });
    }
    turns
}

/// Redacts secrets. The store keeps them because the model needs the full text; a page does not.
fn without_secrets(text: &str) -> String {
    redact_text(text).into_owned()
}

fn pictures(count: usize) -> String {
    format!("\n({count} {})", if count == 1 { "picture" } else { "pictures" })
}
