//! Why a database file could not be opened, before it is known whose file it is.

use std::path::{Path, PathBuf};

use crate::same_file::hint_if_moved;
use rusqlite::ErrorCode;

/// Why a file could not be opened; the ledger and the conversations each say it in their words.
#[derive(Debug)]
pub(crate) enum FileError {
    Open {
        path: PathBuf,
        reason: String,
        hint: &'static str,
    },
    TooNew {
        path: PathBuf,
        found: i64,
        known: i64,
    },
    #[cfg_attr(not(unix), expect(dead_code, reason = "only Unix tells who may write by a mode"))]
    Exposed {
        path: PathBuf,
    },
}

impl FileError {
    pub(crate) fn from_open(path: &Path, error: &rusqlite::Error) -> Self {
        Self::Open { path: path.to_owned(), reason: error.to_string(), hint: hint_for(error) }
    }

    pub(crate) fn from_folder(path: &Path, error: &std::io::Error) -> Self {
        Self::Open {
            path: path.to_owned(),
            reason: error.to_string(),
            hint: "make the folder writable for this user, or use another state folder",
        }
    }
}

/// What to do about an error of the database.
pub(crate) fn hint_for(error: &rusqlite::Error) -> &'static str {
    if let Some(hint) = hint_if_moved(error) {
        return hint;
    }
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => "free some space, then try again",
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen) => {
            "make the file and its folder writable for this user"
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            "another program holds the file locked; close it"
        }
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            "start again: the damaged file is put aside and a new one is made"
        }
        _ => "look at the health of the disk, then start again",
    }
}
