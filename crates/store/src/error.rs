//! Errors of the ledger.

use std::path::PathBuf;
use std::sync::Arc;

use rusqlite::ErrorCode;
use switchboard_core::Outcome;

use crate::file::{FileError, hint_for};

/// An error of opening, writing or reading the ledger.
#[derive(Debug, Clone, thiserror::Error)]
pub enum LedgerError {
    /// The ledger cannot be written at present, so no call may start.
    #[error("the record of calls cannot be written: {reason}")]
    Unavailable { reason: Arc<str>, hint: &'static str },
    /// The file or its folder cannot be used.
    #[error("the record of calls `{path}` cannot be opened: {reason}")]
    Open { path: PathBuf, reason: String, hint: &'static str },
    /// The file was written by a newer version of this program.
    #[error("the record of calls `{path}` has format {found}, this version knows up to {known}")]
    TooNew {
        path: PathBuf,
        found: i64,
        /// Newest format that this version reads.
        known: i64,
    },
    /// Any user of the machine could change the record.
    #[error("every user of this machine can write to the folder `{path}`")]
    Exposed { path: PathBuf },
    #[error("the record of calls cannot be read: {0}")]
    Read(String),
    /// The text is not the id of a call.
    #[error("`{0}` is not the number of a call")]
    BadId(String),
}

impl LedgerError {
    /// Returns the remedy for this error.
    #[must_use]
    pub const fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Unavailable { hint, .. } | Self::Open { hint, .. } => Some(hint),
            Self::TooNew { .. } => Some("update this program, or use another state folder"),
            Self::Exposed { .. } => Some("take the right to write away from others: chmod o-w"),
            Self::Read(_) => None,
            Self::BadId(_) => Some("list the calls to see their numbers"),
        }
    }

    /// Returns the outcome of a call that was not started because of this error.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        let outcome = Outcome::not_sent("audit_unavailable", self.to_string());
        match self.hint() {
            Some(hint) => outcome.with_hint(hint),
            None => outcome,
        }
    }

    pub(crate) fn writer_stopped() -> Self {
        Self::unavailable("the ledger was stopped", "start the host again")
    }

    pub(crate) fn queue_full() -> Self {
        Self::unavailable("too many calls wait to be written", "try again in a moment")
    }

    pub(crate) fn slow() -> Self {
        Self::unavailable("the disk does not answer", "look at the health of the disk")
    }

    pub(crate) fn missing() -> Self {
        Self::unavailable(
            "the row of this call is gone",
            "something else changes the file; keep other programs away from it",
        )
    }

    pub(crate) fn unavailable(reason: impl Into<Arc<str>>, hint: &'static str) -> Self {
        Self::Unavailable { reason: reason.into(), hint }
    }

    pub(crate) fn from_write(error: &rusqlite::Error) -> Self {
        let hint = match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => "free some space; calls are taken again by themselves",
            _ => hint_for(error),
        };
        Self::unavailable(error.to_string(), hint)
    }

    pub(crate) fn from_io(error: &std::io::Error) -> Self {
        let hint = match error.kind() {
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
                "free some space; calls are taken again by themselves"
            }
            _ => "see that the state folder exists and is writable",
        };
        Self::unavailable(error.to_string(), hint)
    }

    pub(crate) fn from_read(error: &rusqlite::Error) -> Self {
        Self::Read(error.to_string())
    }
}

impl From<FileError> for LedgerError {
    fn from(error: FileError) -> Self {
        match error {
            FileError::Open { path, reason, hint } => Self::Open { path, reason, hint },
            FileError::TooNew { path, found, known } => Self::TooNew { path, found, known },
            FileError::Exposed { path } => Self::Exposed { path },
        }
    }
}
