//! A temporary directory for one test: configuration, journals and the files of a server.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// A directory that is removed with everything in it when the value is dropped.
#[derive(Debug)]
pub struct Home {
    directory: TempDir,
}

impl Home {
    /// Creates an empty temporary directory.
    #[expect(clippy::new_without_default, reason = "making a directory is not a default value")]
    pub fn new() -> Self {
        let directory = tempfile::Builder::new()
            .prefix("switchboard-")
            .tempdir()
            .expect("a temporary directory can be made");
        Self { directory }
    }

    /// Returns the path of the directory.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Writes a file below the directory, creates its parent directories, and returns its path.
    pub fn write(&self, name: &str, contents: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).expect("directories can be made in a temporary home");
        }
        std::fs::write(&path, contents).expect("files can be written in a temporary home");
        path
    }

    /// Path for a fixture's `--journal`; the file need not exist yet.
    pub fn journal(&self) -> PathBuf {
        self.path().join("journal")
    }

    /// Returns the complete lines of the journal so far; empty if nothing was written.
    pub fn journal_lines(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.journal()).unwrap_or_default();
        // A last line without a newline is still being written.
        text.split_inclusive('\n')
            .filter_map(|line| line.strip_suffix('\n'))
            .map(str::to_owned)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Home;

    #[test]
    fn a_home_disappears_with_its_files() {
        let home = Home::new();
        let path = home.write("config/servers.json", "{}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "{}");
        drop(home);
        assert!(!path.exists());
    }

    #[test]
    fn only_complete_journal_lines_count() {
        let home = Home::new();
        assert_eq!(home.journal_lines(), Vec::<String>::new());
        home.write("journal", "write a\nwrite b\nwri");
        assert_eq!(home.journal_lines(), ["write a", "write b"]);
    }
}
