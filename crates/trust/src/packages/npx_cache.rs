//! Reads versions and digests from npm's cache for `npx`, without network access.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use switchboard_config::Environment;
use switchboard_document::read_text;

/// Maximum number of cache folders that are examined.
const MAX_FOLDERS: usize = 10_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CachedPackage {
    pub(crate) version: String,
    pub(crate) integrity: String,
}

pub(crate) fn cache_folder(
    environment: &Environment,
    variable: impl Fn(&str) -> Option<PathBuf>,
) -> Option<PathBuf> {
    let named = ["npm_config_cache", "NPM_CONFIG_CACHE"].into_iter().find_map(variable);
    named.or_else(|| Some(environment.home.as_ref()?.join(".npm")))
}

/// Returns every version of a package that was cached for `npx`. Unreadable entries are skipped:
/// the registry is then asked.
pub(crate) fn cached_versions(cache: &Path, name: &str) -> Vec<CachedPackage> {
    #[derive(Deserialize)]
    struct NpmLock {
        #[serde(default)]
        packages: std::collections::BTreeMap<String, NpmLockEntry>,
    }
    #[derive(Deserialize)]
    struct NpmLockEntry {
        version: Option<String>,
        integrity: Option<String>,
    }
    let Ok(folders) = std::fs::read_dir(cache.join("_npx")) else { return Vec::new() };
    let mut found = Vec::new();
    for folder in folders.flatten().take(MAX_FOLDERS) {
        let file = folder.path().join("package-lock.json");
        let Ok(Some(text)) = read_text(&file) else { continue };
        let Ok(mut locked) = serde_json::from_str::<NpmLock>(&text) else { continue };
        let entry = locked.packages.remove(&format!("node_modules/{name}"));
        if let Some(NpmLockEntry { version: Some(version), integrity: Some(integrity) }) = entry {
            found.push(CachedPackage { version, integrity });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_npx_fetched_is_found_with_its_digest_and_what_cannot_be_read_is_passed_over() {
        let cache = tempfile::tempdir().unwrap();
        for (folder, text) in [
            (
                "a",
                r#"{"packages":{"node_modules/@x/y":{"version":"1.0.0","integrity":"sha512-A"}}}"#,
            ),
            ("b", "{"),
            ("c", r#"{"packages":{"node_modules/z":{"version":"2.0.0"}}}"#),
        ] {
            let folder = cache.path().join("_npx").join(folder);
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("package-lock.json"), text).unwrap();
        }
        let one = CachedPackage { version: "1.0.0".to_owned(), integrity: "sha512-A".to_owned() };
        assert_eq!(cached_versions(cache.path(), "@x/y"), [one]);
        assert_eq!(cached_versions(cache.path(), "z"), []);
        assert_eq!(cached_versions(Path::new("/nowhere"), "z"), []);
    }
}
