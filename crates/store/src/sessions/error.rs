//! Errors of the session store.

use std::path::PathBuf;

use crate::file::{FileError, hint_for};
use crate::sessions::id::SessionId;

/// An error of opening, finding, continuing or reading conversations.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SessionError {
    #[error("the conversations in `{path}` cannot be opened: {reason}")]
    Open { path: PathBuf, reason: String, hint: &'static str },
    #[error("the conversations in `{path}` have format {found}; the newest supported is {known}")]
    TooNew { path: PathBuf, found: i64, known: i64 },
    /// Any user of the machine could change the conversations.
    #[error("every user of this machine can write to the folder `{path}`")]
    Exposed { path: PathBuf },
    #[error("no conversation named `{word}`")]
    Unknown { word: String, near: Vec<String> },
    #[error("`{word}` matches several conversations: {}", candidates.join(", "))]
    Ambiguous { word: String, candidates: Vec<String> },
    #[error("step {number} is not the next one of conversation `{id}`: it was continued elsewhere")]
    Conflict { id: SessionId, number: u64 },
    #[error("the conversation `{id}` is open elsewhere")]
    InUse { id: SessionId },
    /// The step number is 0, or greater than the number of steps.
    #[error("the conversation `{id}` has no step {number}; it has {steps}")]
    NoSuchStep { id: SessionId, number: u64, steps: u64 },
    #[error("invalid conversation name `{0}`")]
    BadName(String),
    #[error("invalid conversation id `{0}`")]
    BadId(String),
    /// The change was not written, or it is unknown whether it was.
    #[error("the conversation cannot be written: {reason}")]
    Write { reason: String, hint: &'static str },
    #[error("the conversations cannot be read: {0}")]
    Read(String),
}

impl SessionError {
    /// Returns the remedy for this error.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        let fixed = match self {
            Self::Open { hint, .. } | Self::Write { hint, .. } => hint,
            Self::TooNew { .. } => "update this program, or use another state folder",
            Self::Exposed { .. } => "remove write access for other users: `chmod o-w`",
            Self::Unknown { near, .. } if !near.is_empty() => return Some(did_you_mean(near)),
            Self::Unknown { .. } | Self::BadId(_) => "list them with `switchboard sessions`",
            Self::Ambiguous { .. } => "give more characters of the id",
            Self::Conflict { .. } => "fork it to continue from here",
            Self::InUse { .. } => "close it there, or fork it with `switchboard sessions fork`",
            Self::NoSuchStep { .. } => "steps are counted from 1",
            Self::BadName(_) => "use 1 to 100 printable characters, but not `last`",
            Self::Read(_) => return None,
        };
        Some(fixed.to_owned())
    }

    pub(crate) fn unknown(id: &SessionId) -> Self {
        Self::Unknown { word: id.to_string(), near: Vec::new() }
    }

    pub(crate) fn from_write(error: &rusqlite::Error) -> Self {
        Self::Write { reason: error.to_string(), hint: hint_for(error) }
    }

    pub(crate) fn from_read(error: &rusqlite::Error) -> Self {
        Self::Read(error.to_string())
    }

    pub(crate) fn slow() -> Self {
        Self::Write {
            reason: "the disk does not respond".to_owned(),
            hint: "check the disk, then read the conversation again",
        }
    }
}

impl From<FileError> for SessionError {
    fn from(error: FileError) -> Self {
        match error {
            FileError::Open { path, reason, hint } => Self::Open { path, reason, hint },
            FileError::TooNew { path, found, known } => Self::TooNew { path, found, known },
            FileError::Exposed { path } => Self::Exposed { path },
        }
    }
}

fn did_you_mean(near: &[String]) -> String {
    let names: Vec<String> = near.iter().map(|name| format!("`{name}`")).collect();
    format!("did you mean {}?", names.join(" or "))
}
