//! A file of long texts that this process writes to: shared with others, or its own once it writes
//! much.

use std::fs::{File, OpenOptions};
use std::io;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::sync::Arc;

use crate::same_file;
use switchboard_files::{create_private_folder, private_mode};

/// A file that is longer than this is followed by the next.
pub(crate) const MAX_FILE_LEN: u64 = 256 << 20;
/// Whoever has written this much gets a file of its own; others leave few files behind.
const OWN_FILE_THRESHOLD: u64 = 1 << 20;
/// How far a file of one's own is filled ahead. A file that grows by a text at a time, and not by
/// whole large pages, costs twice the processor time.
const PREALLOCATE_LEN: usize = 128 << 10;

/// An open file and where its next text goes.
#[derive(Debug)]
pub(crate) struct BodyFile {
    pub(crate) name: Arc<str>,
    number: u32,
    file: File,
    /// How much this process has put into it.
    written: u64,
    /// Where the last text of this process ends.
    end: u64,
    /// Up to where there is something to be written over, if no other process writes to it.
    filled: Option<u64>,
}

impl BodyFile {
    /// The last of a lane's files that all processes append to, or its first.
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

    /// Whether no path leads to it any more.
    pub(crate) fn is_removed(&self) -> bool {
        same_file::is_removed(&self.file)
    }

    /// Writes a text, and says where it begins.
    pub(crate) fn append(&mut self, text: &[u8]) -> io::Result<u64> {
        let length = text.len() as u64;
        if self.filled.is_some_and(|filled| filled < self.end + length) {
            self.preallocate(PREALLOCATE_LEN.max(text.len()))?;
        }
        self.file.write_all(text)?;
        self.written += length;
        self.end = match self.filled {
            Some(_) => self.end + length,
            // Whoever else appends to the file.
            None => self.file.stream_position()?,
        };
        Ok(self.end.saturating_sub(length))
    }

    fn preallocate(&mut self, length: usize) -> io::Result<()> {
        let Some(filled) = &mut self.filled else { return Ok(()) };
        self.file.seek(SeekFrom::Start(*filled))?;
        // Where there is no room for that, there may be for the text, which also tells why.
        if self.file.write_all(&vec![0; length]).is_ok() {
            *filled += length as u64;
        }
        self.file.seek(SeekFrom::Start(self.end)).map(drop)
    }

    /// The file for the next text: this one, unless another is better.
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
            // Zeros that stay behind belong to no text.
            let _left = self.file.set_len(self.end);
        }
    }
}

/// What the names of a lane's shared files begin and end with.
fn shared_affixes(lane: usize) -> (&'static str, String) {
    ("bodies-", if lane == 0 { String::new() } else { format!("-{lane}") })
}
