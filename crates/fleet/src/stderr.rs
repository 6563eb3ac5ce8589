//! The end of a server's standard error, kept for diagnosis.

use std::collections::VecDeque;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use switchboard_core::ServerId;
use switchboard_files::{create_private_folder, is_device_name};
use switchboard_text::{LineRedactor, hex_digest};
use tokio::io::{AsyncRead, AsyncReadExt as _};

/// Maximum size of a log, in memory and per file.
pub(crate) const MAX_LOG_BYTES: usize = 1 << 20;

/// A ring buffer of standard error, also written to a file. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct ErrorLog {
    bytes: Arc<Mutex<VecDeque<u8>>>,
    has_output: Arc<AtomicBool>,
    file: Option<Arc<Path>>,
}

/// Returns the log file of a server, below the state folder.
#[must_use]
pub fn log_file(state: &Path, server: &ServerId) -> PathBuf {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    let mut name: String = server.as_str().chars().take(80).map(plain).collect();
    if is_device_name(&name) {
        name.insert(0, '_');
    }
    // Different ids may have the same plain name, or names that differ only in letter case.
    let digest = hex_digest([server.as_str().as_bytes()]);
    let mark = digest.get(..8).unwrap_or_default();
    state.join("logs").join(format!("{name}-{mark}.log"))
}

impl ErrorLog {
    pub(crate) fn with_file(file: Option<PathBuf>) -> Self {
        Self { file: file.map(Into::into), ..Self::default() }
    }

    /// Copies `from` into the log until it ends, redacting secrets line by line.
    pub async fn follow(&self, mut from: impl AsyncRead + Unpin) {
        let mut chunk = [0; 4_096];
        let open_file = || self.file.as_deref().and_then(|path| open_log(path).ok());
        let mut file = open_file();
        let mut written = 0;
        // By line, since one read may end in the middle of a secret.
        let mut lines = LineRedactor::default();
        loop {
            let count = from.read(&mut chunk).await.unwrap_or(0);
            let said = match chunk.get(..count) {
                None | Some([]) => lines.finish(),
                Some(said) => {
                    self.has_output.store(true, Ordering::Relaxed);
                    lines.push(said)
                }
            };
            self.push(&said);
            // A full disk must not affect the server: its pipe is read in any case.
            if file.as_mut().is_some_and(|file| file.write_all(&said).is_err()) {
                file = None;
            }
            if count == 0 {
                break;
            }
            written += said.len();
            // Reopening truncates the file.
            if written > MAX_LOG_BYTES {
                written = 0;
                file = open_file();
            }
        }
    }

    fn push(&self, chunk: &[u8]) {
        let mut bytes = self.bytes.lock();
        bytes.extend(chunk);
        let excess = bytes.len().saturating_sub(MAX_LOG_BYTES);
        bytes.drain(..excess);
    }

    /// Returns whether the server has written nothing.
    pub fn is_empty(&self) -> bool {
        !self.has_output.load(Ordering::Relaxed)
    }

    /// Returns the last lines: at most `count`, and at most 4 KiB.
    pub fn last_lines(&self, count: usize) -> Vec<String> {
        let bytes = self.bytes.lock();
        let tail: Vec<u8> = bytes.iter().skip(bytes.len().saturating_sub(4_096)).copied().collect();
        drop(bytes);
        let text = String::from_utf8_lossy(&tail);
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        let first = lines.len().saturating_sub(count);
        lines.iter().skip(first).map(|line| (*line).to_owned()).collect()
    }
}

/// Opens a log for appending; truncates it if it exceeds the limit.
pub(crate) fn open_log(path: &Path) -> std::io::Result<File> {
    if let Some(folder) = path.parent() {
        create_private_folder(folder)?;
    }
    let long = std::fs::metadata(path).is_ok_and(|metadata| metadata.len() > MAX_LOG_BYTES as u64);
    File::options().create(true).append(!long).write(true).truncate(long).open(path)
}

#[cfg(test)]
mod tests {
    use super::{ErrorLog, MAX_LOG_BYTES};

    #[tokio::test]
    async fn the_newest_bytes_are_kept_and_the_oldest_go() {
        let log = ErrorLog::default();
        let text: Vec<u8> = (0..200_000).flat_map(|n| format!("line {n}\n").into_bytes()).collect();
        log.follow(text.as_slice()).await;
        assert_eq!(log.bytes.lock().len(), MAX_LOG_BYTES);
        assert_eq!(log.last_lines(2), ["line 199998", "line 199999"]);
    }
}
