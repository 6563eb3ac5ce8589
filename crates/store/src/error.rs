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
    #[error("the record of calls `{path}` cannot be opened: {reason}")]
    Open { path: PathBuf, reason: String, hint: &'static str },
    #[error("the record of calls `{path}` has format {found}; the newest supported is {known}")]
    TooNew { path: PathBuf, found: i64, known: i64 },
    /// Any user of the machine could change the record.
    #[error("every user of this machine can write to the folder `{path}`")]
    Exposed { path: PathBuf },
    #[error("the record of calls cannot be read: {0}")]
    Read(String),
    #[error("invalid call number `{0}`")]
    BadId(String),
}

impl LedgerError {
    /// Returns the remedy for this error.
    #[must_use]
    pub const fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Unavailable { hint, .. } | Self::Open { hint, .. } => Some(hint),
            Self::TooNew { .. } => Some("update this program, or use another state folder"),
            Self::Exposed { .. } => Some("remove write access for other users: `chmod o-w`"),
            Self::Read(_) => None,
            Self::BadId(_) => Some("list the calls to see their numbers"),
        }
    }

    /// Returns the outcome of a call that was not started because of this error.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        // `not_sent`: a call whose intent cannot be recorded is never sent, so it is safe to retry.
        let outcome = Outcome::not_sent("audit_unavailable", self.to_string());
        match self.hint() {
            Some(hint) => outcome.with_hint(hint),
            None => outcome,
        }
    }

    pub(crate) fn writer_stopped() -> Self {
        Self::unavailable("the ledger has stopped", "restart the host")
    }

    pub(crate) fn queue_full() -> Self {
        Self::unavailable("too many calls are waiting to be written", "try again in a moment")
    }

    pub(crate) fn slow() -> Self {
        Self::unavailable("the disk does not respond", "check the disk")
    }

    pub(crate) fn missing() -> Self {
        Self::unavailable(
            "the row of this call is missing",
            "another program changes the file; keep it away from the state folder",
        )
    }

    pub(crate) fn unavailable(reason: impl Into<Arc<str>>, hint: &'static str) -> Self {
        Self::Unavailable { reason: reason.into(), hint }
    }

    pub(crate) fn from_write(error: &rusqlite::Error) -> Self {
        let hint = match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => "free some space; calls are then accepted automatically",
            _ => hint_for(error),
        };
        Self::unavailable(error.to_string(), hint)
    }

    pub(crate) fn from_io(error: &std::io::Error) -> Self {
        let hint = match error.kind() {
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
                "free some space; calls are then accepted automatically"
            }
            _ => "make sure that the state folder exists and is writable",
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
