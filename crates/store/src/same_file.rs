//! Whether a file that is open is still where it was opened: what is written to one that was moved or removed is found by nobody.

use std::fs::File;
use std::path::{Path, PathBuf};

use rusqlite::ffi;

/// A path, and the file that it led to.
#[derive(Debug)]
pub(crate) struct SameFile {
    path: PathBuf,
    opened: Option<Identity>,
}

impl SameFile {
    /// The file that is at `path` now.
    pub(crate) fn at(path: &Path) -> Self {
        Self { path: path.to_owned(), opened: identity(path) }
    }

    /// Fails once the path leads to another file, or to none.
    pub(crate) fn check(&self) -> rusqlite::Result<()> {
        if identity(&self.path) == self.opened {
            return Ok(());
        }
        let moved = ffi::Error::new(ffi::SQLITE_READONLY_DBMOVED);
        let message = format!("`{}` was moved or removed", self.path.display());
        Err(rusqlite::Error::SqliteFailure(moved, Some(message)))
    }
}

/// What to do about such an error, if it is one.
pub(crate) fn hint_if_moved(error: &rusqlite::Error) -> Option<&'static str> {
    let code = error.sqlite_error().map(|error| error.extended_code);
    (code == Some(ffi::SQLITE_READONLY_DBMOVED))
        .then_some("put it back, or start again: a new one is made then")
}

#[cfg(unix)]
type Identity = (u64, u64);

#[cfg(unix)]
fn identity(path: &Path) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(path).ok().map(|file| (file.dev(), file.ino()))
}

/// Whether no path leads to the file any more.
#[cfg(unix)]
pub(crate) fn is_removed(file: &File) -> bool {
    use std::os::unix::fs::MetadataExt;
    file.metadata().is_ok_and(|file| file.nlink() == 0)
}

// Windows neither moves nor removes what somebody has open.
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
