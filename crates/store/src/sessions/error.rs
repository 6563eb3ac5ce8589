//! Errors of the session store.

use std::path::PathBuf;

use crate::file::{FileError, hint_for};
use crate::sessions::id::SessionId;

/// An error of opening, finding, continuing or reading conversations.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SessionError {
    /// The file or its folder cannot be used.
    #[error("the conversations in `{path}` cannot be opened: {reason}")]
    Open { path: PathBuf, reason: String, hint: &'static str },
    /// The file was written by a newer version of this program.
    #[error("the conversations in `{path}` have format {found}, this version knows up to {known}")]
    TooNew {
        path: PathBuf,
        found: i64,
        /// Newest format that this version reads.
        known: i64,
    },
    /// Any user of the machine could change the conversations.
    #[error("every user of this machine can write to the folder `{path}`")]
    Exposed { path: PathBuf },
    #[error("there is no conversation `{word}`")]
    Unknown {
        word: String,
        /// Similar names and ids.
        near: Vec<String>,
    },
    #[error("`{word}` can mean several conversations: {}", candidates.join(", "))]
    Ambiguous {
        word: String,
        /// Ids and names of the most recently changed matches.
        candidates: Vec<String>,
    },
    /// The step is not the next one, because another process added steps.
    #[error("step {number} is not the next one of the conversation `{id}`: it goes on elsewhere")]
    Conflict {
        id: SessionId,
        /// The rejected step.
        number: u64,
    },
    #[error("the conversation `{id}` is open elsewhere")]
    InUse { id: SessionId },
    /// The step number is 0, or greater than the number of steps.
    #[error("the conversation `{id}` has no step {number}; it has {steps}")]
    NoSuchStep {
        id: SessionId,
        /// The requested step.
        number: u64,
        /// Number of steps in the conversation.
        steps: u64,
    },
    #[error("`{0}` cannot be the name of a conversation")]
    BadName(String),
    #[error("`{0}` is not the id of a conversation")]
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
            Self::Exposed { .. } => "take the right to write away from others: chmod o-w",
            Self::Unknown { near, .. } if !near.is_empty() => return Some(did_you_mean(near)),
            Self::Unknown { .. } | Self::BadId(_) => "`switchboard sessions` lists them",
            Self::Ambiguous { .. } => "give more of the id",
            Self::Conflict { .. } => "fork it to go on from here",
            Self::InUse { .. } => "leave it there first, or fork it: `switchboard sessions fork`",
            Self::NoSuchStep { .. } => "steps are counted from 1",
            Self::BadName(_) => "use 1 to 100 characters that can be seen, and not `last`",
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
            reason: "the disk does not answer".to_owned(),
            hint: "look at the health of the disk, then read the conversation again",
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
