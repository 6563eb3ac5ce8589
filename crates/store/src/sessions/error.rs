//! Why conversations could not be opened, found, continued or read.

use std::path::PathBuf;

use crate::file::{FileError, hint_for};
use crate::sessions::id::SessionId;

/// Why conversations could not be opened, found, continued or read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SessionError {
    /// The file or its folder cannot be used at all.
    #[error("the conversations in `{path}` cannot be opened: {reason}")]
    Open {
        path: PathBuf,
        /// What stands in the way.
        reason: String,
        /// What to do about it.
        hint: &'static str,
    },
    /// A newer version of this program wrote the file.
    #[error("the conversations in `{path}` have format {found}, this version knows up to {known}")]
    TooNew {
        path: PathBuf,
        /// The format of the file.
        found: i64,
        /// The newest format this version can read.
        known: i64,
    },
    /// Anyone on the machine could change what was said.
    #[error("every user of this machine can write to the folder `{path}`")]
    Exposed { path: PathBuf },
    /// There is no such conversation.
    #[error("there is no conversation `{word}`")]
    Unknown {
        /// What was asked for.
        word: String,
        /// Names and ids that are like it.
        near: Vec<String>,
    },
    /// Several conversations could be meant.
    #[error("`{word}` can mean several conversations: {}", candidates.join(", "))]
    Ambiguous {
        /// What was asked for.
        word: String,
        /// The ids of those that were changed last, with their names.
        candidates: Vec<String>,
    },
    /// The step is not the next one: someone else added steps.
    #[error("step {number} is not the next one of the conversation `{id}`: it goes on elsewhere")]
    Conflict {
        id: SessionId,
        /// The step that was not added.
        number: u64,
    },
    /// Another process has the conversation open.
    #[error("the conversation `{id}` is open elsewhere")]
    InUse { id: SessionId },
    /// The conversation is shorter, or the step is before its first.
    #[error("the conversation `{id}` has no step {number}; it has {steps}")]
    NoSuchStep {
        id: SessionId,
        /// The step that was asked for.
        number: u64,
        /// How many it has.
        steps: u64,
    },
    /// The text cannot be the name of a conversation.
    #[error("`{0}` cannot be the name of a conversation")]
    BadName(String),
    /// The text is not the id of a conversation.
    #[error("`{0}` is not the id of a conversation")]
    BadId(String),
    /// Nothing was changed, or nobody can tell.
    #[error("the conversation cannot be written: {reason}")]
    Write {
        /// What stands in the way.
        reason: String,
        /// What to do about it.
        hint: &'static str,
    },
    /// A query failed.
    #[error("the conversations cannot be read: {0}")]
    Read(String),
}

impl SessionError {
    /// What to do next.
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
