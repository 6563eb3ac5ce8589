//! Keeps the catalog as files below a folder: writes them atomically and removes stale ones.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};

use switchboard_files::{FileAccess, replace};
use switchboard_host::Host;
use switchboard_prompting::{IndexFile, PromptOptions, index_files, with_shown_servers};
use tokio_util::sync::CancellationToken;

/// How long to wait for further changes, so that they are written together.
const BATCH_WINDOW: Duration = Duration::from_millis(200);
const SERVER_FOLDERS: [&str; 3] = ["tools", "resources", "prompts"];
const SERVER_FILES: [&str; 3] = ["INSTRUCTIONS.md", "STATUS.md", "SERVER_METADATA.json"];

/// The changes that [`write_index_files`] made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexChanges {
    /// Number of files in the index.
    pub there: usize,
    /// Number of those that were written.
    pub written: usize,
    /// Number of stale files that were removed.
    pub removed: usize,
}

/// Renders the files for the current catalog of a host.
#[must_use]
pub fn host_index_files(host: &Host) -> Vec<IndexFile> {
    with_shown_servers(&host.lease(), |servers| index_files(servers, &PromptOptions::default()))
}

/// Writes the files below `root` and removes all other index files from its folder `mcps`.
pub fn write_index_files(root: &Path, files: &[IndexFile]) -> io::Result<IndexChanges> {
    let mut done = IndexChanges::default();
    let mut keep = BTreeSet::new();
    for file in files {
        let path = root.join(&file.path);
        // Unchanged files keep their time stamps, which editors watch.
        if fs::read(&path).ok().as_deref() != Some(file.contents.as_bytes()) {
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder)?;
            }
            replace(&path, file.contents.as_bytes(), FileAccess::Umask)?;
            done.written += 1;
        }
        keep.insert(path);
    }
    done.there = keep.len();
    done.removed = remove_others(&root.join("mcps"), &keep)?;
    Ok(done)
}

/// Keeps the files below `root` current until `stop` is cancelled, and passes errors to `tell`.
pub async fn keep_index_current(
    host: Host,
    root: PathBuf,
    stop: CancellationToken,
    tell: impl Fn(&io::Error),
) {
    let mut changes = host.fleet().changes();
    changes.load();
    let mut was: Option<String> = None;
    loop {
        let files = host_index_files(&host);
        let root = root.clone();
        let writing = tokio::task::spawn_blocking(move || write_index_files(&root, &files));
        let problem = match writing.await {
            Ok(Ok(_)) => None,
            Ok(Err(error)) => Some(error),
            Err(error) => Some(io::Error::other(error)),
        };
        // Each change would repeat the same error, for example for a full disk.
        let now = problem.as_ref().map(ToString::to_string);
        if let Some(error) = problem.filter(|_| now != was) {
            tell(&error);
        }
        was = now;
        let changed = async {
            changes.changed().await;
            tokio::time::sleep(BATCH_WINDOW).await;
            changes.load();
        };
        if stop.run_until_cancelled(changed).await.is_none() {
            return;
        }
    }
}

/// Removes stale index files. Files with other names are left alone.
fn remove_others(index: &Path, keep: &BTreeSet<PathBuf>) -> io::Result<usize> {
    let mut removed = 0;
    for server in entries(index)?.into_iter().filter(|path| is_folder(path)) {
        let parts = SERVER_FOLDERS.map(|part| server.join(part));
        let mut old: Vec<PathBuf> = SERVER_FILES.map(|name| server.join(name)).into();
        for part in parts.iter().filter(|part| is_folder(part)) {
            // People may keep notes here; only names that the index itself uses are removed.
            let of_index = |path: &PathBuf| path.extension().is_some_and(|end| end == "json");
            old.extend(entries(part)?.into_iter().filter(of_index));
        }
        for path in old.iter().filter(|path| path.is_file() && !keep.contains(*path)) {
            fs::remove_file(path)?;
            removed += 1;
        }
        for folder in parts.iter().chain([&server]) {
            // Fails for a folder that contains other files, which stays.
            _ = fs::remove_dir(folder);
        }
    }
    Ok(removed)
}

fn is_folder(path: &Path) -> bool {
    // A link could lead out of the index, and files there must not be removed.
    path.is_dir() && !path.is_symlink()
}

fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    if !is_folder(folder) {
        return Ok(Vec::new());
    }
    fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, contents: &str) -> IndexFile {
        IndexFile { path: path.to_owned(), contents: contents.to_owned() }
    }

    #[test]
    fn files_come_change_and_go_with_the_catalog_and_others_stay() {
        let folder = tempfile::tempdir().unwrap();
        let first = [
            file("mcps/a/tools/x.json", "1"),
            file("mcps/a/prompts/p.json", "1"),
            file("mcps/a/STATUS.md", "bad"),
            file("mcps/b/resources/r.json", "1"),
        ];
        let wrote = |files: &[IndexFile]| write_index_files(folder.path(), files).unwrap();
        assert_eq!(wrote(&first), IndexChanges { there: 4, written: 4, removed: 0 });
        assert_eq!(wrote(&first), IndexChanges { there: 4, written: 0, removed: 0 });
        let place = |name: &str| folder.path().join(name);
        fs::write(place("mcps/a/tools/notes.txt"), "mine").unwrap();
        let second = [file("mcps/a/tools/x.json", "2")];
        assert_eq!(wrote(&second), IndexChanges { there: 1, written: 1, removed: 3 });
        assert_eq!(fs::read_to_string(place("mcps/a/tools/x.json")).unwrap(), "2");
        assert!(place("mcps/a/tools/notes.txt").exists());
        assert!(!place("mcps/b").exists() && !place("mcps/a/prompts").exists());
        assert_eq!(entries(&place("mcps/a/tools")).unwrap().len(), 2, "nothing is left over");
    }
}
