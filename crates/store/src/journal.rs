//! A write-ahead journal per process. Calls append to it themselves, so an acknowledged entry
//! survives the death of the process before it reaches the database.
//!
//! An entry consists of its length, its checksum and its bytes. A file is truncated or removed once
//! the database has all its entries; the next process recovers the files of a dead one.

use std::fs::{File, OpenOptions};
use std::io;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use parking_lot::{Mutex, MutexGuard};

use crate::same_file::{SameFile, is_removed};
use bytes::{Buf, Bytes};
use switchboard_files::{create_private_folder, private_mode};

use crate::call_id::CallId;
use crate::group::{CallOpening, RowUpdate};
use crate::journal_entry::JournalEntry;
use crate::{journal_entry, startup};

/// File size at which the journal continues in a new file, so that the old one can be removed.
const MAX_FILE_LEN: u64 = 16 << 20;
const SUFFIX: &str = ".journal";
const HEADER_LEN: usize = 8;

#[derive(Debug)]
pub(crate) struct Journal {
    folder: PathBuf,
    owner: String,
    /// The database of the entries. In a database that replaced it, the ids name other calls.
    database: SameFile,
    inner: Mutex<JournalState>,
}

#[derive(Debug, Default)]
struct JournalState {
    /// Created by the first append.
    file: Option<(File, PathBuf)>,
    number: u32,
    length: u64,
    scratch: Vec<u8>,
}

impl Journal {
    pub(crate) fn for_database(path: &Path, owner: &str) -> Self {
        Self {
            folder: startup::journal_folder(path),
            owner: owner.to_owned(),
            database: SameFile::at(path),
            inner: Mutex::default(),
        }
    }

    /// Appends an update of a call and passes it to `queue`. Returns it if it cannot be appended.
    pub(crate) fn append(
        &self,
        id: CallId,
        opening: Option<&CallOpening>,
        news: RowUpdate,
        queue: impl FnOnce(RowUpdate),
    ) -> Option<RowUpdate> {
        // Both under one lock: every entry of the file is then in the queue or in the database.
        let mut inner = self.lock();
        if inner.append(self, id, opening, &news).is_err() {
            return Some(news);
        }
        queue(news);
        None
    }

    pub(crate) fn truncate_if(&self, is_all_written: impl FnOnce() -> bool) {
        let mut inner = self.lock();
        if inner.length > 0 && is_all_written() {
            inner.truncate_to(0);
        }
    }

    /// Starts the next file if the current one is full. Returns the path of the full file and the
    /// result of `queued`: the number of messages to write before that file may be removed.
    pub(crate) fn rotate(&self, queued: impl FnOnce() -> usize) -> Option<(PathBuf, usize)> {
        let mut inner = self.lock();
        if inner.length < MAX_FILE_LEN {
            return None;
        }
        let (_, path) = inner.file.take()?;
        inner.length = 0;
        inner.number += 1;
        Some((path, queued()))
    }

    /// Removes the file, whose entries the database must have.
    pub(crate) fn remove(&self) {
        if let Some((_, path)) = self.lock().file.take() {
            // A leftover file is read again at the next start, which changes nothing.
            let _left = std::fs::remove_file(path);
        }
    }

    fn lock(&self) -> MutexGuard<'_, JournalState> {
        self.inner.lock()
    }
}

impl JournalState {
    fn append(
        &mut self,
        journal: &Journal,
        id: CallId,
        opening: Option<&CallOpening>,
        news: &RowUpdate,
    ) -> io::Result<()> {
        self.scratch.clear();
        self.scratch.extend_from_slice(&[0; HEADER_LEN]);
        if !journal_entry::write(&mut self.scratch, id, opening, news) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let Some((head, body)) = self.scratch.split_at_mut_checked(HEADER_LEN) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let length = u32::try_from(body.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
        let sum = crc32fast::hash(body);
        for (to, from) in
            head.iter_mut().zip(length.to_le_bytes().into_iter().chain(sum.to_le_bytes()))
        {
            *to = from;
        }
        if self.file.as_ref().is_some_and(|(file, _)| is_removed(file)) {
            self.abandon_file();
        }
        if self.file.is_none() {
            journal.database.check().map_err(io::Error::other)?;
            create_private_folder(&journal.folder)?;
            let name = format!("{}.{:06}{SUFFIX}", journal.owner, self.number);
            let path = journal.folder.join(name);
            let file =
                private_mode(OpenOptions::new().append(true).create_new(true)).open(&path)?;
            self.file = Some((file, path));
            self.length = 0;
        }
        let Some((file, _)) = &mut self.file else { return Ok(()) };
        if let Err(error) = file.write_all(&self.scratch) {
            // A partial entry would hide the entries after it.
            let length = self.length;
            self.truncate_to(length);
            return Err(error);
        }
        self.length += self.scratch.len() as u64;
        Ok(())
    }

    fn truncate_to(&mut self, length: u64) {
        let Some((file, _)) = &self.file else { return };
        match file.set_len(length) {
            Ok(()) => self.length = length,
            // The next entry starts a new file.
            Err(_) => self.abandon_file(),
        }
    }

    fn abandon_file(&mut self) {
        self.file = None;
        self.number += 1;
        self.length = 0;
    }
}

/// Returns the journal files of a process in order.
pub(crate) fn owner_files(folder: &Path, owner: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        journal_files(folder).filter(|file| file_owner(file) == Some(owner)).collect();
    files.sort();
    files
}

/// Returns the processes that have journal files, once per file.
pub(crate) fn owners(folder: &Path) -> impl Iterator<Item = String> {
    journal_files(folder).filter_map(|file| file_owner(&file).map(str::to_owned))
}

pub(crate) fn busy_owners(folder: &Path) -> Vec<String> {
    let holds = |file: &PathBuf| std::fs::metadata(file).is_ok_and(|file| file.len() > 0);
    journal_files(folder)
        .filter(holds)
        .filter_map(|file| file_owner(&file).map(str::to_owned))
        .collect()
}

/// Reads the entries of a file up to the first truncated or damaged one.
pub(crate) fn read(path: &Path) -> io::Result<Vec<JournalEntry>> {
    let mut bytes = Vec::new();
    File::open(path)?.read_to_end(&mut bytes)?;
    let mut bytes = Bytes::from(bytes);
    let mut entries = Vec::new();
    while bytes.len() >= HEADER_LEN {
        let length = bytes.get_u32_le() as usize;
        let sum = bytes.get_u32_le();
        // Entries are appended in order, so one after a partial entry was never acknowledged.
        if length > bytes.len() {
            break;
        }
        let entry = bytes.split_to(length);
        let is_intact = crc32fast::hash(&entry) == sum;
        let Some(decoded) = is_intact.then(|| journal_entry::read(&entry)).flatten() else { break };
        entries.push(decoded);
    }
    Ok(entries)
}

fn journal_files(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| file_owner(path).is_some())
}

fn file_owner(path: &Path) -> Option<&str> {
    let name = path.file_name()?.to_str()?.strip_suffix(SUFFIX)?;
    Some(name.rsplit_once('.')?.0)
}

#[cfg(test)]
#[path = "journal_tests.rs"]
mod tests;
