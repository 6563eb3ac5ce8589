//! Files of long texts. Processes append to shared files; a process that writes much gets its own.

use std::fs::{File, OpenOptions};
use std::io;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::sync::Arc;

use crate::same_file;
use switchboard_files::{create_private_folder, private_mode};

/// File size at which writing continues in a new file.
pub(crate) const MAX_FILE_LEN: u64 = 256 << 20;
/// Number of bytes after which a process gets its own file. Other processes share files, so that
/// only a few files accumulate.
const OWN_FILE_THRESHOLD: u64 = 1 << 20;
/// Number of bytes by which an own file is preallocated. A file that grows with every text costs
/// twice the CPU time of one that grows by whole large pages.
const PREALLOCATE_LEN: usize = 128 << 10;

#[derive(Debug)]
pub(crate) struct BodyFile {
    pub(crate) name: Arc<str>,
    number: u32,
    file: File,
    /// Number of bytes written by this process.
    written: u64,
    /// End of this process's last text.
    end: u64,
    /// End of the preallocated zeros; `None` for a shared file.
    filled: Option<u64>,
}

impl BodyFile {
    /// Opens the newest shared file of a lane, or creates the first.
    pub(crate) fn open_latest_shared(folder: &Path, lane: usize) -> io::Result<Self> {
        create_private_folder(folder)?;
        let (start, end) = shared_affixes(lane);
        let numbers = std::fs::read_dir(folder)?.flatten().filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            name.strip_prefix(start)?.strip_suffix(&*end)?.parse::<u32>().ok()
        });
        Self::open_shared(folder, lane, numbers.max().unwrap_or(1))
    }

    fn open_shared(folder: &Path, lane: usize, number: u32) -> io::Result<Self> {
        let (start, end) = shared_affixes(lane);
        let name = format!("{start}{number:06}{end}");
        let mut options = OpenOptions::new();
        let file = private_mode(options.append(true).create(true)).open(folder.join(&name))?;
        Ok(Self { name: name.into(), number, file, written: 0, end: 0, filled: None })
    }

    fn open_own(folder: &Path, lane: usize, owner: &str, number: u32) -> io::Result<Self> {
        let name = format!("bodies-{owner}.{lane}.{number:06}");
        let mut options = OpenOptions::new();
        let file = private_mode(options.write(true).create_new(true)).open(folder.join(&name))?;
        Ok(Self { name: name.into(), number, file, written: 0, end: 0, filled: Some(0) })
    }

    pub(crate) fn is_removed(&self) -> bool {
        same_file::is_removed(&self.file)
    }

    /// Writes a text and returns its offset.
    pub(crate) fn append(&mut self, text: &[u8]) -> io::Result<u64> {
        let length = text.len() as u64;
        if self.filled.is_some_and(|filled| filled < self.end + length) {
            self.preallocate(PREALLOCATE_LEN.max(text.len()))?;
        }
        self.file.write_all(text)?;
        self.written += length;
        self.end = match self.filled {
            Some(_) => self.end + length,
            // Other processes append too, so the end of the text is known only from the position.
            None => self.file.stream_position()?,
        };
        Ok(self.end.saturating_sub(length))
    }

    fn preallocate(&mut self, length: usize) -> io::Result<()> {
        let Some(filled) = &mut self.filled else { return Ok(()) };
        // Texts go beyond the zeros if the disk was too full for more of them.
        let start = self.end.max(*filled);
        self.file.seek(SeekFrom::Start(start))?;
        // If there is no space for the zeros, there may be enough for the text; otherwise writing
        // it reports the error.
        if self.file.write_all(&vec![0; length]).is_ok() {
            *filled = start + length as u64;
        }
        self.file.seek(SeekFrom::Start(self.end)).map(drop)
    }

    /// Returns the file for the next text: this one, or a new one if a threshold was crossed.
    pub(crate) fn rotate(self, folder: &Path, lane: usize, owner: &str) -> io::Result<Self> {
        let number = self.number.saturating_add(1);
        match self.filled {
            None if self.written > OWN_FILE_THRESHOLD => Self::open_own(folder, lane, owner, 1),
            None if self.end > MAX_FILE_LEN => Self::open_shared(folder, lane, number),
            Some(_) if self.end > MAX_FILE_LEN => Self::open_own(folder, lane, owner, number),
            _ => Ok(self),
        }
    }
}

impl Drop for BodyFile {
    fn drop(&mut self) {
        if self.filled.is_some() {
            // Leftover zeros do no harm: no row points to them.
            let _left = self.file.set_len(self.end);
        }
    }
}

fn shared_affixes(lane: usize) -> (&'static str, String) {
    ("bodies-", if lane == 0 { String::new() } else { format!("-{lane}") })
}
