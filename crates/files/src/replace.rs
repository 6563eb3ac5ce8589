//! Private folders, and atomic replacement of files: readers see the old or the new version.

use std::fs::{DirBuilder, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::{fs, io};

use tempfile::NamedTempFile;

/// The access permissions of a replaced file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileAccess {
    Owner,
    /// The permissions of the replaced file; only the owner if there was none.
    Kept,
    /// The default permissions, restricted by the umask of this process.
    Umask,
}

/// Replaces the contents of `path`, or creates it. A symbolic link is replaced, not followed. After
/// an error, the old file is unchanged.
pub fn replace(path: &Path, contents: &[u8], access: FileAccess) -> io::Result<()> {
    rename(write_temporary(path, contents, access)?, path)
}

/// Like [`replace`], and syncs the new contents to disk before the rename.
pub fn replace_synced(path: &Path, contents: &[u8], access: FileAccess) -> io::Result<()> {
    let file = write_temporary(path, contents, access)?;
    // A file system may write the rename before the contents: after a power loss, the file would
    // be empty.
    file.as_file().sync_all()?;
    rename(file, path)
}

fn write_temporary(path: &Path, contents: &[u8], access: FileAccess) -> io::Result<NamedTempFile> {
    // By default, a temporary file is readable only by its owner.
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    if access == FileAccess::Umask {
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    }
    // In the same folder, since a rename across file systems is not atomic.
    let mut file = builder.tempfile_in(parent_folder(path))?;
    file.write_all(contents)?;
    if access == FileAccess::Kept
        && let Ok(metadata) = fs::metadata(path)
    {
        file.as_file().set_permissions(metadata.permissions())?;
    }
    Ok(file)
}

/// Returns the folder that contains the file.
pub fn parent_folder(path: &Path) -> &Path {
    // The parent of a bare file name is the empty path, which the system does not accept.
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// Creates a folder and its parents, accessible only to the owner.
pub fn create_private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Makes files created with these options readable only by their owner.
pub fn private_mode(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

#[cfg(not(windows))]
fn rename(file: NamedTempFile, path: &Path) -> io::Result<()> {
    file.persist(path)?;
    Ok(())
}

#[cfg(windows)]
fn rename(file: NamedTempFile, path: &Path) -> io::Result<()> {
    let (file, temporary) = file.keep().map_err(|error| error.error)?;
    drop(file);
    // Unlike `persist`, `fs::rename` replaces a file that another process has open.
    let renamed = retry_briefly(|| fs::rename(&temporary, path));
    if renamed.is_err() {
        // The error of the rename is the one to return; a leftover file only takes space.
        _ = fs::remove_file(&temporary);
    }
    renamed
}

/// Retries for half a second while access is denied.
#[cfg(any(windows, test))]
fn retry_briefly(mut step: impl FnMut() -> io::Result<()>) -> io::Result<()> {
    // Virus scanners keep new files open for a moment.
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
    use std::io::Read as _;

    use super::*;

    #[test]
    fn a_file_is_replaced_while_somebody_reads_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        fs::write(&path, "old").unwrap();
        let mut reader = fs::File::open(&path).unwrap();
        replace(&path, b"new", FileAccess::Owner).unwrap();
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
        assert!(replace(&path, b"new", FileAccess::Owner).is_err());
        assert!(replace_synced(&path, b"new", FileAccess::Kept).is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn who_may_read_a_file_is_told_and_a_link_is_replaced() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let usual = folder.path().join("usual");
        fs::write(&usual, "").unwrap();
        for (access, for_new, for_old) in [
            (FileAccess::Owner, 0o600, 0o600),
            (FileAccess::Kept, 0o600, 0o640),
            (FileAccess::Umask, mode(&usual), mode(&usual)),
        ] {
            for write in [replace, replace_synced] {
                let path = folder.path().join("a");
                write(&path, b"1", access).unwrap();
                assert_eq!(mode(&path), for_new, "{access:?}");
                fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
                write(&path, b"2", access).unwrap();
                assert_eq!(mode(&path), for_old, "{access:?}");
                fs::remove_file(&path).unwrap();
                std::os::unix::fs::symlink(&usual, &path).unwrap();
                write(&path, b"3", access).unwrap();
                assert!(fs::symlink_metadata(&path).unwrap().is_file());
                assert_eq!(fs::read_to_string(&usual).unwrap(), "");
                fs::remove_file(&path).unwrap();
            }
        }
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
