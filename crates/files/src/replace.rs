//! Private folders, and new files in the place of others at once: readers see the old one or the new one.

use std::io;
use std::path::Path;

use tempfile::NamedTempFile;

/// Makes a folder with those above it, for its owner alone.
///
/// # Errors
/// When the system refuses.
#[cfg(unix)]
pub fn create_private_folder(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Makes a folder with those above it, for its owner alone.
///
/// # Errors
/// When the system refuses.
#[cfg(not(unix))]
pub fn create_private_folder(folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)
}

/// Gives a temporary file its name; what had that name is gone, also where somebody reads it.
///
/// # Errors
/// When the system refuses. Then the old file is as it was, and the new one is gone.
#[cfg(not(windows))]
pub fn replace_file(file: NamedTempFile, path: &Path) -> io::Result<()> {
    file.persist(path)?;
    Ok(())
}

/// Gives a temporary file its name; what had that name is gone, also where somebody reads it.
///
/// # Errors
/// When the system refuses. Then the old file is as it was, and the new one is gone.
#[cfg(windows)]
pub fn replace_file(file: NamedTempFile, path: &Path) -> io::Result<()> {
    let (file, temporary) = file.keep().map_err(|error| error.error)?;
    drop(file);
    // Unlike `persist`, this replaces a file that another process has open.
    let renamed = retry_briefly(|| std::fs::rename(&temporary, path));
    if renamed.is_err() {
        // The error of the rename is the one to return; a leftover file only takes space.
        _ = std::fs::remove_file(&temporary);
    }
    renamed
}

/// Tries for half a second: whoever looks at new files for viruses keeps them for a moment.
#[cfg(any(windows, test))]
fn retry_briefly(mut step: impl FnMut() -> io::Result<()>) -> io::Result<()> {
    const RETRY_INTERVAL: std::time::Duration = std::time::Duration::from_millis(25);
    for _ in 0..20 {
        match step() {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                std::thread::sleep(RETRY_INTERVAL);
            }
            ended => return ended,
        }
    }
    step()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::{Read as _, Write as _};

    use super::*;

    #[test]
    fn a_file_is_replaced_while_somebody_reads_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        fs::write(&path, "old").unwrap();
        let mut reader = fs::File::open(&path).unwrap();
        let mut new = NamedTempFile::new_in(folder.path()).unwrap();
        new.write_all(b"new").unwrap();
        replace_file(new, &path).unwrap();
        let mut seen = String::new();
        reader.read_to_string(&mut seen).unwrap();
        assert_eq!((seen.as_str(), fs::read_to_string(&path).unwrap().as_str()), ("old", "new"));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_cannot_be_replaced_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("folder");
        fs::create_dir_all(path.join("inner")).unwrap();
        let new = NamedTempFile::new_in(folder.path()).unwrap();
        assert!(replace_file(new, &path).is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_that_is_held_for_a_moment_is_waited_for() {
        let mut tries = 0;
        retry_briefly(|| {
            tries += 1;
            if tries < 3 { Err(io::ErrorKind::PermissionDenied.into()) } else { Ok(()) }
        })
        .unwrap();
        assert_eq!(tries, 3);
        let mut tries = 0;
        let error = retry_briefly(|| {
            tries += 1;
            Err(io::ErrorKind::NotFound.into())
        });
        assert_eq!((tries, error.unwrap_err().kind()), (1, io::ErrorKind::NotFound));
    }
}
