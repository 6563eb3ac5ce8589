//! `ConfirmedPackages`: installed files of locked packages, as of the registry's last confirmation.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use switchboard_document::{ConfigError, edit_locked, read_text};
use switchboard_text::Digest;

use crate::packages::locked::LockedPackage;

/// Digests of installed files, by locked package.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfirmedPackages {
    unpacked: BTreeMap<String, BTreeSet<String>>,
}

impl ConfirmedPackages {
    /// Reads the confirmations. An unreadable file counts as empty: the registries are then asked.
    #[must_use]
    pub fn load(state: &Path) -> Self {
        let text = read_text(&file(state)).ok().flatten();
        text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
    }

    /// Records the installed files of a package that its registry has just confirmed.
    pub fn confirm(
        state: &Path,
        package: &LockedPackage,
        unpacked: Vec<String>,
    ) -> Result<(), ConfigError> {
        if unpacked.is_empty() {
            return Ok(());
        }
        let path = file(state);
        edit_locked(&path, |before| {
            let before = before.and_then(|text| serde_json::from_str::<Self>(text).ok());
            let mut all = before.unwrap_or_default();
            all.unpacked.insert(key(package), unpacked.into_iter().collect());
            serde_json::to_string_pretty(&all)
                .map(|text| text + "\n")
                .map_err(|cause| ConfigError::new(path.as_path(), cause.to_string()))
        })
    }

    /// Returns whether all these files were installed when the package was confirmed.
    pub fn covers(&self, package: &LockedPackage, unpacked: &[String]) -> bool {
        let known = self.unpacked.get(&key(package));
        // No installed files are no evidence, although "all of none" would be true.
        !unpacked.is_empty()
            && known.is_some_and(|known| unpacked.iter().all(|one| known.contains(one)))
    }
}

fn file(state: &Path) -> PathBuf {
    state.join("confirmed-packages.json")
}

fn key(package: &LockedPackage) -> String {
    Digest::new("locked package")
        .with(&package.ecosystem)
        .with(&package.name)
        .with(&package.version)
        .with(&package.integrity)
        .hex()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_confirmed_holds_for_that_package_and_what_was_there() {
        let state = tempfile::tempdir().unwrap();
        let package = |integrity: &str| LockedPackage {
            ecosystem: "PyPI".to_owned(),
            name: "some-server".to_owned(),
            version: "1.2.3".to_owned(),
            integrity: integrity.to_owned(),
        };
        let texts =
            |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        ConfirmedPackages::confirm(state.path(), &package("i"), texts(&["a", "b"])).unwrap();
        let confirmed = ConfirmedPackages::load(state.path());
        for (integrity, unpacked, expected) in [
            ("i", texts(&["a", "b"]), true),
            ("i", texts(&["a"]), true),
            ("i", texts(&["a", "c"]), false),
            ("i", texts(&[]), false),
            ("other", texts(&["a"]), false),
        ] {
            assert_eq!(confirmed.covers(&package(integrity), &unpacked), expected, "{unpacked:?}");
        }
        std::fs::write(file(state.path()), "{").unwrap();
        assert_eq!(ConfirmedPackages::load(state.path()), ConfirmedPackages::default());
    }
}
