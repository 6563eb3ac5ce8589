//! Why the ledger could not be opened, written or read.

use std::path::PathBuf;
use std::sync::Arc;

use rusqlite::ErrorCode;
use switchboard_core::Outcome;

use crate::file::{FileError, hint_for};

/// Why the ledger could not be opened, written or read.
#[derive(Debug, Clone, thiserror::Error)]
pub enum LedgerError {
    /// Nothing can be written now, so no call may start.
    #[error("the record of calls cannot be written: {reason}")]
    Unavailable {
        /// What stands in the way.
        reason: Arc<str>,
        /// What to do about it.
        hint: &'static str,
    },
    /// The file or its folder cannot be used at all.
    #[error("the record of calls `{path}` cannot be opened: {reason}")]
    Open {
        path: PathBuf,
        /// What stands in the way.
        reason: String,
        /// What to do about it.
        hint: &'static str,
    },
    /// A newer version of this program wrote the file.
    #[error("the record of calls `{path}` has format {found}, this version knows up to {known}")]
    TooNew {
        path: PathBuf,
        /// The format of the file.
        found: i64,
        /// The newest format this version can read.
        known: i64,
    },
    /// Anyone on the machine could change what was recorded.
    #[error("every user of this machine can write to the folder `{path}`")]
    Exposed { path: PathBuf },
    /// A query failed.
    #[error("the record of calls cannot be read: {0}")]
    Read(String),
    /// The text is not the number of a call.
    #[error("`{0}` is not the number of a call")]
    BadId(String),
}

impl LedgerError {
    /// What to do next.
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

    /// How a call ends that was not started because of this.
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
