//! Writes a download on systems without handle-relative opens: every parent is checked first.

use std::io;
use std::io::Write as _;

use crate::download::{DownloadError, DownloadPath, IfExists};

pub(crate) fn write(
    place: &DownloadPath,
    content: &[u8],
    existing: IfExists,
) -> Result<(), DownloadError> {
    let path = || place.written.clone();
    check_folders(place).map_err(|cause| DownloadError::Unreachable { path: path(), cause })?;
    let full = place.full_path();
    let write = || -> io::Result<()> {
        let folder = full.parent().unwrap_or(&place.root);
        let mut file = tempfile::Builder::new().prefix(".switchboard-").tempfile_in(folder)?;
        file.write_all(content)?;
        file.as_file().sync_all()?;
        match existing {
            IfExists::Replace if !is_other(&full) => file.persist(&full)?,
            IfExists::Replace | IfExists::Keep => file.persist_noclobber(&full)?,
        };
        Ok(())
    };
    write().map_err(|cause| match cause.kind() {
        io::ErrorKind::AlreadyExists => DownloadError::Exists(path()),
        _ => DownloadError::NotWritten { path: path(), cause },
    })
}

/// Checks that no parent is a link or a junction.
// Not atomic: a folder that is replaced by a link after the check is followed.
fn check_folders(place: &DownloadPath) -> io::Result<()> {
    let mut folder = place.root.clone();
    for name in &place.folders {
        folder.push(name);
        if !folder.symlink_metadata()?.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
    }
    Ok(())
}

/// Returns whether the path exists and is not a regular file.
fn is_other(path: &std::path::Path) -> bool {
    path.symlink_metadata().is_ok_and(|about| !about.is_file())
}
