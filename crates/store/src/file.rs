//! Database files: private to the user, locked while they are opened, quarantined if damaged.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{fs, io};

use jiff::Timestamp;
use rusqlite::{Connection, ErrorCode};
use switchboard_files::{FolderLock, create_private_folder, parent_folder, private_mode};

use crate::entry::OpenReport;
use crate::ledger::LedgerOptions;
use crate::same_file::hint_if_moved;
use crate::schema::{DatabaseSchema, connect, migrate};

/// Maximum size of a file that is checked in full at every start. The check reads every page, so a
/// larger file is checked only if it is marked as suspect.
const MAX_FULL_CHECK_BYTES: u64 = 16 << 20;

/// Locks the folder of owner locks next to the file, so that no other process opens the file at the
/// same time. Returns that folder and the lock.
pub(crate) fn lock_for_open(path: &Path) -> Result<(PathBuf, FolderLock), FileError> {
    let folder = parent_folder(path);
    let owners = owners_folder(path);
    create_private_folder(&owners).map_err(|error| FileError::from_folder(path, &error))?;
    refuse_exposed(folder)?;
    let gate =
        FolderLock::acquire(&owners).map_err(|error| FileError::from_folder(path, &error))?;
    Ok((owners, gate))
}

/// Opens or creates the file, quarantines a damaged one, and migrates to the newest format. The
/// caller holds the lock of [`lock_for_open`].
pub(crate) fn open(
    path: &Path,
    options: &LedgerOptions,
    schema: &DatabaseSchema,
    opened: &mut OpenReport,
) -> Result<Connection, FileError> {
    let mut connection = open_sound(path, options, opened)?;
    migrate(&mut connection, path, schema)?;
    Ok(connection)
}

/// Marks the file as suspect, so that the next start checks all of it.
pub(crate) fn mark_suspect(path: &Path) {
    // Without the mark, damage is still detected when a damaged page is read.
    let _unmarked = fs::write(with_suffix(path, ".suspect"), "");
}

pub(crate) fn owners_folder(path: &Path) -> PathBuf {
    parent_folder(path).join("owners")
}

fn open_sound(
    path: &Path,
    options: &LedgerOptions,
    opened: &mut OpenReport,
) -> Result<Connection, FileError> {
    let mark = with_suffix(path, ".suspect");
    // A file that cannot be examined counts as missing; creating it reports the error.
    let size = fs::metadata(path).map(|file| file.len()).ok();
    let in_full = mark.exists() || size.is_none_or(|size| size <= MAX_FULL_CHECK_BYTES);
    opened.created = size.is_none();
    if size.is_none() {
        create_private(path).map_err(|error| FileError::from_folder(path, &error))?;
    }
    match connect_checked(path, options, in_full) {
        Ok(Some(connection)) => {
            // A leftover mark only costs another check.
            let _unmarked = fs::remove_file(mark);
            return Ok(connection);
        }
        Ok(None) => {}
        Err(error) if is_damage(&error) => {}
        Err(error) => return Err(FileError::from_open(path, &error)),
    }
    // Moved, not deleted: a person may be able to repair it.
    let aside = move_aside(path).map_err(|error| FileError::from_folder(path, &error))?;
    let _unmarked = fs::remove_file(mark);
    opened.quarantined = Some(aside);
    create_private(path).map_err(|error| FileError::from_folder(path, &error))?;
    connect(path, options).map_err(|error| FileError::from_open(path, &error))
}

/// Returns `None` if the file opens but the check finds damage.
fn connect_checked(
    path: &Path,
    options: &LedgerOptions,
    in_full: bool,
) -> rusqlite::Result<Option<Connection>> {
    let connection = connect(path, options)?;
    // SQLite reads the file only with the first query, so this detects a foreign file.
    let _tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if in_full {
        let verdict: String =
            connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
        if verdict != "ok" {
            return Ok(None);
        }
    }
    Ok(Some(connection))
}

pub(crate) fn is_damage(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
}

fn move_aside(path: &Path) -> io::Result<PathBuf> {
    let time = Timestamp::now().strftime("%Y%m%dT%H%M%SZ").to_string();
    let aside = (1..1000)
        .map(|count| match count {
            1 => with_suffix(path, &format!(".corrupt-{time}")),
            _ => with_suffix(path, &format!(".corrupt-{time}-{count}")),
        })
        .find(|aside| !aside.exists())
        .ok_or(io::ErrorKind::AlreadyExists)?;
    fs::rename(path, &aside)?;
    // The write-ahead log belongs to the damaged file; SQLite would apply it to a new one.
    for part in ["-wal", "-shm"] {
        match fs::rename(with_suffix(path, part), with_suffix(&aside, part)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(aside)
}

pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    PathBuf::from(name)
}

// Calls are private. SQLite gives its additional files the mode of this one.
fn create_private(path: &Path) -> io::Result<()> {
    match private_mode(fs::OpenOptions::new().write(true).create_new(true)).open(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

#[cfg(unix)]
fn refuse_exposed(folder: &Path) -> Result<(), FileError> {
    use std::os::unix::fs::PermissionsExt;
    let mode = fs::metadata(folder)
        .map_err(|error| FileError::from_folder(folder, &error))?
        .permissions()
        .mode();
    // With the sticky bit, other users can add files but not replace ours.
    if mode & 0o002 != 0 && mode & 0o1000 == 0 {
        return Err(FileError::Exposed { path: folder.to_owned() });
    }
    Ok(())
}

#[cfg(not(unix))]
fn refuse_exposed(_folder: &Path) -> Result<(), FileError> {
    Ok(())
}

/// An error of opening a file, which each store converts to its own error type.
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
    #[cfg_attr(not(unix), expect(dead_code, reason = "only Unix modes show which users may write"))]
    Exposed {
        path: PathBuf,
    },
}

impl FileError {
    pub(crate) fn from_open(path: &Path, error: &rusqlite::Error) -> Self {
        Self::Open { path: path.to_owned(), reason: error.to_string(), hint: hint_for(error) }
    }

    pub(crate) fn from_folder(path: &Path, error: &io::Error) -> Self {
        Self::Open {
            path: path.to_owned(),
            reason: error.to_string(),
            hint: "make the folder writable for this user, or use another state folder",
        }
    }
}

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
            "restart: the damaged file is quarantined and a new one is created"
        }
        _ => "check the disk, then restart",
    }
}
