//! Edits a file under a lock between processes, through a temporary file and a rename.

use std::fs;
use std::path::Path;
use std::time::Duration;

use switchboard_files::{FileAccess, Lock, LockError, parent_folder, replace_synced};

use crate::error::ConfigError;
use crate::read_text::{MAX_FILE_BYTES, read_text_within};

/// How long to wait for another process that edits the same file.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);

/// Replaces the text of `path` with the result of `edit`, atomically and locked against other
/// processes. `edit` gets `None` if the file does not exist. Blocks for up to ten seconds.
pub fn edit_locked(
    path: &Path,
    edit: impl FnOnce(Option<&str>) -> Result<String, ConfigError>,
) -> Result<(), ConfigError> {
    edit_with_limits(path, LOCK_TIMEOUT, MAX_FILE_BYTES, edit)
}

/// Edits a file like [`edit_locked`], with another limit of its length in bytes.
pub fn edit_locked_within(
    path: &Path,
    longest: u64,
    edit: impl FnOnce(Option<&str>) -> Result<String, ConfigError>,
) -> Result<(), ConfigError> {
    edit_with_limits(path, LOCK_TIMEOUT, longest, edit)
}

fn edit_with_limits(
    path: &Path,
    patience: Duration,
    longest: u64,
    edit: impl FnOnce(Option<&str>) -> Result<String, ConfigError>,
) -> Result<(), ConfigError> {
    let failed = |what: &str, cause: std::io::Error| {
        ConfigError::new(path, format!("cannot be {what}: {cause}"))
    };
    // Replace the target of a symbolic link, so that the link is kept.
    let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    fs::create_dir_all(parent_folder(&real)).map_err(|cause| failed("created", cause))?;
    // A separate file: the rename replaces the file itself, and a lock would stay on the old one.
    let lock_file = real.with_added_extension("lock");
    let _lock = Lock::acquire(&lock_file, patience).map_err(|error| match error {
        LockError::Held => ConfigError::new(path, "is locked by another process that changes it")
            .hint(format!("stop the process that holds `{}`", lock_file.display())),
        LockError::Io(cause) => failed("locked for a change", cause),
    })?;
    let before = read_text_within(&real, longest)?;
    let after = edit(before.as_deref())?;
    // An unchanged file keeps its time, so that watchers do not reload it.
    if before.as_deref() == Some(after.as_str()) {
        return Ok(());
    }
    // Some Windows programs read a file without its mark in a legacy encoding, so it is kept.
    let mark = has_bom(&real).map_err(|cause| failed("read", cause))?;
    let text = format!("{}{after}", if mark { "\u{feff}" } else { "" });
    replace_synced(&real, text.as_bytes(), FileAccess::Kept)
        .map_err(|cause| failed("written", cause))
}

fn has_bom(path: &Path) -> std::io::Result<bool> {
    use std::io::Read as _;
    let mut start = Vec::new();
    match fs::File::open(path) {
        Ok(file) => file.take(3).read_to_end(&mut start)?,
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => 0,
        Err(cause) => return Err(cause),
    };
    Ok(start == "\u{feff}".as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, text: &str) -> Result<(), ConfigError> {
        edit_locked(path, |_| Ok(text.to_owned()))
    }

    #[test]
    fn folders_and_the_file_are_made_when_missing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b/config.json");
        edit_locked(&path, |before| {
            assert_eq!(before, None);
            Ok("{}".to_owned())
        })
        .unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "{}");
        let mut left: Vec<_> = fs::read_dir(path.parent().unwrap())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        assert_eq!(left, ["config.json", "config.json.lock"]);
    }

    #[test]
    fn a_failed_edit_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.json");
        fs::write(&path, "before").unwrap();
        let error =
            edit_locked(&path, |_| Err(ConfigError::new(Path::new("x"), "no"))).unwrap_err();
        assert_eq!(&*error.message, "no");
        assert_eq!(fs::read_to_string(&path).unwrap(), "before");
    }

    #[test]
    fn a_byte_order_mark_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.json");
        fs::write(&path, "\u{feff}{}").unwrap();
        write(&path, "{ }").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "\u{feff}{ }");
    }

    #[cfg(unix)]
    #[test]
    fn permissions_and_links_are_kept() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().join("real.json");
        let link = folder.path().join("link.json");
        fs::write(&real, "{}").unwrap();
        fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        write(&link, "{ }").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&real).unwrap(), "{ }");
        assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
        let new = folder.path().join("new.json");
        write(&new, "{}").unwrap();
        assert_eq!(fs::metadata(&new).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_lock_that_is_never_released_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = fs::canonicalize(folder.path()).unwrap().join("config.json");
        let held = Lock::acquire(&path.with_added_extension("lock"), LOCK_TIMEOUT).unwrap();
        let error = edit_with_limits(&path, Duration::from_millis(60), MAX_FILE_BYTES, |_| {
            Ok(String::new())
        })
        .unwrap_err();
        assert_eq!(&*error.message, "is locked by another process that changes it");
        assert!(!path.exists());
        drop(held);
        write(&path, "{}").unwrap();
    }

    #[test]
    fn changes_at_the_same_time_are_all_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("count");
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..5 {
                        edit_locked(&path, |before| Ok(format!("{}x", before.unwrap_or_default())))
                            .unwrap();
                    }
                });
            }
        });
        assert_eq!(fs::read_to_string(&path).unwrap().len(), 40);
    }
}
