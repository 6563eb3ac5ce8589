//! The history of typed lines: a private file with one JSON-encoded entry per line.

use std::fs::{File, OpenOptions};
use std::io;
use std::io::{Read as _, Write as _};
use std::path::PathBuf;

use switchboard_files::{FileAccess, private_mode, replace};

pub(crate) const MAX_ENTRIES: usize = 1_000;

/// Maximum number of bytes read from the file.
const MAX_FILE_BYTES: u64 = 16 << 20;

#[derive(Debug)]
pub(crate) struct HistoryFile {
    path: PathBuf,
}

impl HistoryFile {
    pub(crate) const fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// Reads the entries, the oldest first. A file with too many entries is truncated.
    pub(crate) fn load(&self) -> io::Result<Vec<String>> {
        let file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        // Typed lines may contain secrets; a file of an older version or a copy may be readable by
        // others.
        make_private(&file)?;
        let mut text = Vec::new();
        file.take(MAX_FILE_BYTES).read_to_end(&mut text)?;
        let text = String::from_utf8_lossy(&text);
        // A line that was only partly written is skipped.
        let mut entries: Vec<String> =
            text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        if entries.len() > MAX_ENTRIES {
            entries.drain(..entries.len() - MAX_ENTRIES);
            self.replace(&entries)?;
        }
        Ok(entries)
    }

    /// Adds an entry, unless it is empty or begins with white space, as in a shell.
    pub(crate) fn add(&self, entry: &str) -> io::Result<()> {
        if !is_kept(entry) {
            return Ok(());
        }
        let mut options = OpenOptions::new();
        private_mode(options.append(true).create(true));
        // In a single write, because other processes append to the same file.
        options.open(&self.path)?.write_all(line(entry).as_bytes())
    }

    fn replace(&self, entries: &[String]) -> io::Result<()> {
        let text: String = entries.iter().map(|entry| line(entry)).collect();
        replace(&self.path, text.as_bytes(), FileAccess::Owner)
    }
}

pub(crate) fn is_kept(entry: &str) -> bool {
    !entry.starts_with(char::is_whitespace) && !entry.is_empty()
}

fn line(entry: &str) -> String {
    format!("{}\n", serde_json::Value::from(entry))
}

#[cfg(unix)]
fn make_private(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    if file.metadata()?.permissions().mode() & 0o077 == 0 {
        return Ok(());
    }
    file.set_permissions(std::fs::Permissions::from_mode(0o600))
}

#[cfg(not(unix))]
fn make_private(_: &File) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{HistoryFile, MAX_ENTRIES};

    #[test]
    fn entries_come_back_in_order_without_what_began_with_a_space() {
        let home = tempfile::tempdir().unwrap();
        let file = HistoryFile::new(home.path().join("history"));
        assert_eq!(file.load().unwrap(), Vec::<String>::new());
        for entry in ["one", " secret", "two\nlines \"quoted\"", "", "\tsecret"] {
            file.add(entry).unwrap();
        }
        assert_eq!(
            HistoryFile::new(home.path().join("history")).load().unwrap(),
            ["one", "two\nlines \"quoted\""]
        );
    }

    #[test]
    fn only_the_newest_entries_are_kept() {
        let home = tempfile::tempdir().unwrap();
        let file = HistoryFile::new(home.path().join("history"));
        let text: String = (0..MAX_ENTRIES + 5).map(|number| format!("\"{number}\"\n")).collect();
        std::fs::write(home.path().join("history"), text + "\"cut o").unwrap();
        let entries = file.load().unwrap();
        assert_eq!((entries.len(), entries[0].as_str()), (MAX_ENTRIES, "5"));
        let text = std::fs::read_to_string(home.path().join("history")).unwrap();
        assert_eq!(text.lines().count(), MAX_ENTRIES);
    }

    #[cfg(unix)]
    #[test]
    fn nobody_else_may_read_it() {
        use std::os::unix::fs::PermissionsExt as _;
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("history");
        let mode = || std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        let file = HistoryFile::new(path.clone());
        file.add("one").unwrap();
        assert_eq!(mode(), 0o600);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        file.load().unwrap();
        assert_eq!(mode(), 0o600);
    }
}
