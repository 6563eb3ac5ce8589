//! Reads file lists of packages from the caches of `uv` and `pipx`, without network access.

use std::path::{Path, PathBuf};

use switchboard_config::Environment;
use switchboard_document::read_text;
use switchboard_text::hex_digest;

/// Maximum number of cache entries that are examined.
const MAX_FOLDERS: usize = 20_000;

/// Returns the cache folders, each with the depth at which the packages are.
pub(crate) fn caches(
    environment: &Environment,
    variable: impl Fn(&str) -> Option<PathBuf>,
) -> Vec<(PathBuf, usize)> {
    let home = || environment.home.clone();
    let cache = variable("XDG_CACHE_HOME").or_else(|| Some(home()?.join(".cache")));
    let shared = variable("XDG_DATA_HOME").or_else(|| Some(home()?.join(".local/share")));
    let uv = variable("UV_CACHE_DIR").or_else(|| Some(cache?.join("uv")));
    let pipx = variable("PIPX_HOME").or_else(|| Some(shared?.join("pipx")));
    let mut caches = Vec::new();
    caches.extend(uv.map(|folder| (folder.join("archive-v0"), 1)));
    // `pipx` unpacks into `.cache/HASH/lib/pythonX.Y/site-packages`.
    caches.extend(pipx.map(|folder| (folder.join(".cache"), 4)));
    caches
}

/// Returns the digest of each unpacked `RECORD` of one version of a package. A `RECORD` lists the
/// digest of every file, so its digest covers all files.
pub(crate) fn unpacked_digests(
    caches: &[(PathBuf, usize)],
    name: &str,
    version: &str,
) -> Vec<String> {
    let wanted = format!("{}-{version}.dist-info", normalize_name(name));
    let mut found = Vec::new();
    let mut left = MAX_FOLDERS;
    for (cache, depth) in caches {
        collect_digests(cache, *depth, &wanted, &mut left, &mut found);
    }
    found.sort();
    found.dedup();
    found
}

fn collect_digests(
    folder: &Path,
    depth: usize,
    wanted: &str,
    left: &mut usize,
    found: &mut Vec<String>,
) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let Some(less) = left.checked_sub(1) else { return };
        *left = less;
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        if depth > 0 {
            // Do not follow symbolic links: their targets are in the cache as well.
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                collect_digests(&entry.path(), depth - 1, wanted, left, found);
            }
        } else if is_dist_info(name, wanted)
            && let Ok(Some(list)) = read_text(&entry.path().join("RECORD"))
        {
            found.push(hex_digest([list.as_bytes()]));
        }
    }
}

fn is_dist_info(folder: &str, wanted: &str) -> bool {
    let Some((name, rest)) = folder.split_once('-') else { return false };
    format!("{}-{rest}", normalize_name(name)) == wanted
}

fn normalize_name(name: &str) -> String {
    // `PyPI` treats these spellings as one name, and wheels use underscores.
    name.to_lowercase().replace(['-', '.'], "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_files_of_exactly_this_version_is_found() {
        let cache = tempfile::tempdir().unwrap();
        for (folder, list) in [
            ("archive-v0/a/Some_Server-1.2.3.dist-info", "one"),
            ("archive-v0/b/some_server-1.2.30.dist-info", "two"),
            ("archive-v0/c/other-1.2.3.dist-info", "three"),
            ("archive-v0/d/some_server-1.2.3.dist-info", "one"),
        ] {
            let folder = cache.path().join(folder);
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("RECORD"), list).unwrap();
        }
        let caches = [(cache.path().join("archive-v0"), 1), (PathBuf::from("/nowhere"), 4)];
        assert_eq!(
            unpacked_digests(&caches, "some-server", "1.2.3"),
            [hex_digest([b"one".as_slice()])]
        );
        assert_eq!(unpacked_digests(&caches, "some.server", "1.2"), [""; 0]);
    }
}
