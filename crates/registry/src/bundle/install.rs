//! Unpacks a bundle into a folder named by its digest, and later detects changes.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::bundle::archive;
use crate::bundle::bundle_type::{Bundle, digest};
use crate::bundle::error::BundleError;

/// The list of files and their digests, outside the folder that the server sees.
const FILE_LIST: &str = "files.json";
const CONTENTS_FOLDER: &str = "contents";

/// A bundle that has been unpacked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstalledBundle {
    folder: PathBuf,
}

/// Returns the folder that contains the files of an unpacked bundle.
#[must_use]
pub fn bundle_folder(bundles: &Path, sha256: &str) -> PathBuf {
    bundles.join(sha256).join(CONTENTS_FOLDER)
}

/// Returns the bundle that a path leads into.
#[must_use]
pub fn installed_bundle_at(bundles: &Path, path: &str) -> Option<InstalledBundle> {
    let rest = Path::new(path).strip_prefix(bundles).ok()?;
    let name = rest.components().next()?.as_os_str().to_str()?;
    // Other folders, such as that of an unfinished unpacking, are not bundles.
    let is_digest = name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_digest.then(|| InstalledBundle { folder: bundles.join(name) })
}

impl Bundle {
    /// Unpacks the bundle, unless an unchanged copy exists already.
    pub fn install(&self, bundles: &Path) -> Result<InstalledBundle, BundleError> {
        let failed = |error: io::Error| BundleError::NotInstalled(error.to_string());
        let installed = InstalledBundle { folder: bundles.join(&self.sha256) };
        if installed.folder.exists() {
            return match installed.changes().map_err(failed)?.first() {
                None => Ok(installed),
                Some(change) => Err(BundleError::NotInstalled(format!(
                    "the installed copy was changed ({change}); remove `{}`",
                    installed.folder.display()
                ))),
            };
        }
        fs::create_dir_all(bundles).map_err(failed)?;
        // Unpack to a temporary folder and rename it, so that no partial bundle is visible.
        let unpacked =
            tempfile::Builder::new().prefix(".unpacking-").tempdir_in(bundles).map_err(failed)?;
        let mut digests = BTreeMap::new();
        let mut archive = archive::open(&self.bytes)?;
        for file in &self.files {
            let contents = archive::read(&mut archive, file)?;
            let path = unpacked.path().join(CONTENTS_FOLDER).join(&file.name);
            // Only these two modes: an archive must not set the setuid bit.
            let mode = if file.executable { 0o755 } else { 0o644 };
            write(&path, &contents, mode).map_err(failed)?;
            digests.insert(file.name.as_str(), digest(&contents));
        }
        let list = serde_json::to_vec(&digests)
            .map_err(|error| BundleError::NotInstalled(error.to_string()))?;
        fs::write(unpacked.path().join(FILE_LIST), list).map_err(failed)?;
        match fs::rename(unpacked.path(), &installed.folder) {
            Ok(()) => drop(unpacked.keep()),
            // Another process may have been first; it unpacked the same bytes.
            Err(_) if installed.folder.join(FILE_LIST).exists() => {}
            Err(error) => return Err(failed(error)),
        }
        Ok(installed)
    }
}

impl InstalledBundle {
    /// Returns at most ten files that are missing or were changed since the bundle was unpacked.
    pub fn changes(&self) -> io::Result<Vec<String>> {
        let list = fs::read(self.folder.join(FILE_LIST))?;
        let list: BTreeMap<String, String> = serde_json::from_slice(&list)?;
        let mut changes = Vec::new();
        for (name, expected) in list {
            let path = self.folder.join(CONTENTS_FOLDER).join(&name);
            // A symbolic link counts as a change, because its target is not protected.
            let is_file = fs::symlink_metadata(&path).is_ok_and(|it| it.is_file());
            match fs::read(&path) {
                Ok(bytes) if is_file && digest(&bytes) == expected => {}
                Ok(_) => changes.push(format!("`{name}` was changed")),
                Err(_) => changes.push(format!("`{name}` is missing")),
            }
            // Enough to show that the copy cannot be trusted.
            if changes.len() == 10 {
                break;
            }
        }
        Ok(changes)
    }
}

fn write(path: &Path, contents: &[u8], mode: u32) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, contents)?;
    set_mode(path, mode)
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn set_mode(_path: &Path, _mode: u32) -> io::Result<()> {
    Ok(())
}
