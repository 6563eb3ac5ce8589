//! Detection of moved or removed files: anything written to an open file without a path is lost.

use std::fs::File;
use std::path::{Path, PathBuf};

use rusqlite::ffi;

/// A path and the identity of the file that was opened there.
#[derive(Debug)]
pub(crate) struct SameFile {
    path: PathBuf,
    opened: Option<Identity>,
}

impl SameFile {
    pub(crate) fn at(path: &Path) -> Self {
        Self { path: path.to_owned(), opened: identity(path) }
    }

    /// Fails if the path leads to another file, or to none.
    pub(crate) fn check(&self) -> rusqlite::Result<()> {
        if identity(&self.path) == self.opened {
            return Ok(());
        }
        // SQLite's own code for a moved database, by which `hint_if_moved` recognizes the error.
        let moved = ffi::Error::new(ffi::SQLITE_READONLY_DBMOVED);
        let message = format!("`{}` was moved or removed", self.path.display());
        Err(rusqlite::Error::SqliteFailure(moved, Some(message)))
    }
}

/// Returns the hint for the error of [`SameFile::check`].
pub(crate) fn hint_if_moved(error: &rusqlite::Error) -> Option<&'static str> {
    let code = error.sqlite_error().map(|error| error.extended_code);
    (code == Some(ffi::SQLITE_READONLY_DBMOVED))
        .then_some("restore the file, or restart to create a new one")
}

#[cfg(unix)]
type Identity = (u64, u64);

#[cfg(unix)]
fn identity(path: &Path) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(path).ok().map(|file| (file.dev(), file.ino()))
}

#[cfg(unix)]
pub(crate) fn is_removed(file: &File) -> bool {
    use std::os::unix::fs::MetadataExt;
    file.metadata().is_ok_and(|file| file.nlink() == 0)
}

// Windows does not move or remove open files.
#[cfg(not(unix))]
type Identity = ();

#[cfg(not(unix))]
fn identity(_path: &Path) -> Option<Identity> {
    None
}

#[cfg(not(unix))]
pub(crate) fn is_removed(_file: &File) -> bool {
    false
}
