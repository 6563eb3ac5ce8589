//! The database of the review queue. It is opened on first use.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rusqlite::{Connection, TransactionBehavior};
use switchboard_files::{ProcessLock, is_alive};

use crate::entry::OpenReport;
use crate::file;
use crate::file::{FileError, hint_for, is_damage, lock_for_open, mark_suspect};
use crate::ledger::LedgerOptions;
use crate::queue::entry::{EntryState, QueueEntry, QueuedQuestion};
use crate::queue::rows;
use crate::queue::rows::{LocalOwner, QUEUE_SCHEMA, QueueRowError};
use crate::queue::store::{QueueAnswer, QueueError, QueueStore};
use crate::queue::user_decision::UserDecision;
use crate::same_file::SameFile;
use crate::schema::migrate;

/// The review queue, in a file that processes share, or only in memory.
#[derive(Debug)]
pub struct QueueFile {
    path: Option<PathBuf>,
    open: Mutex<Option<OpenQueue>>,
}

#[derive(Debug)]
struct OpenQueue {
    connection: Connection,
    /// The identity of the file; `None` in memory.
    place: Option<SameFile>,
    /// The folder of owner locks; `None` in memory, where there are no other processes.
    owners: Option<PathBuf>,
    /// The lock of this process, once it has posted an entry.
    owner: Option<ProcessLock>,
}

impl QueueFile {
    /// Returns the queue at `path`. The file is neither opened nor created yet.
    #[must_use]
    pub fn at(path: &Path) -> Arc<Self> {
        Arc::new(Self { path: Some(path.to_owned()), open: Mutex::default() })
    }

    /// Returns the queue next to the ledger in a state folder.
    #[must_use]
    pub fn in_state_folder(state: &Path) -> Arc<Self> {
        Self::at(&state.join("record").join("waiting.db"))
    }

    /// Returns a queue that only this process can see.
    #[must_use]
    pub fn in_memory() -> Arc<Self> {
        Arc::new(Self { path: None, open: Mutex::default() })
    }

    /// Ends expired and abandoned entries, then runs `work` in one transaction.
    fn write<T>(
        &self,
        work: impl FnOnce(&Connection, &LocalOwner) -> Result<T, QueueRowError>,
        role: QueueRole,
    ) -> Result<T, QueueError> {
        let mut slot = self.open.lock();
        let open = self.ensure_open(&mut slot)?;
        if role == QueueRole::Owner {
            open.claim(self.path.as_deref())?;
        }
        let name = open.owner.as_ref().map_or_else(|| "here".to_owned(), |o| o.name().to_owned());
        let here = LocalOwner { name, owners: open.owners.clone() };
        let done = open.sweep().and_then(|()| {
            let behavior = TransactionBehavior::Immediate;
            let transaction = open.connection.transaction_with_behavior(behavior)?;
            let done = work(&transaction, &here)?;
            transaction.commit()?;
            Ok(done)
        });
        done.map_err(|trouble| self.to_error(trouble))
    }

    fn read<T>(
        &self,
        work: impl FnOnce(&OpenQueue) -> Result<T, QueueRowError>,
    ) -> Result<T, QueueError> {
        let mut slot = self.open.lock();
        let open = self.ensure_open(&mut slot)?;
        let done = open.sweep().and_then(|()| work(open));
        done.map_err(|trouble| self.to_error(trouble))
    }

    fn ensure_open<'a>(
        &self,
        slot: &'a mut Option<OpenQueue>,
    ) -> Result<&'a mut OpenQueue, QueueError> {
        // Reopen if the file was moved or removed: no other process would see the entries.
        slot.take_if(|open| open.place.as_ref().is_some_and(|place| place.check().is_err()));
        if slot.is_none() {
            *slot = Some(match &self.path {
                Some(path) => OpenQueue::file(path),
                None => OpenQueue::memory(),
            }?);
        }
        slot.as_mut().ok_or_else(|| store_error("it was closed".to_owned(), "try again"))
    }

    fn is_missing(&self) -> bool {
        // Listing an empty queue must not create the file.
        let slot = self.open.lock();
        slot.is_none() && self.path.as_ref().is_none_or(|path| !path.exists())
    }

    fn to_error(&self, trouble: QueueRowError) -> QueueError {
        match trouble {
            QueueRowError::Refused(error) => error,
            QueueRowError::Database(error) => {
                if let Some(path) = self.path.as_ref().filter(|_| is_damage(&error)) {
                    mark_suspect(path);
                }
                store_error(error.to_string(), hint_for(&error))
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum QueueRole {
    /// Waits for answers and holds a lock meanwhile.
    Owner,
    /// Lists or answers entries.
    Visitor,
}

impl OpenQueue {
    fn file(path: &Path) -> Result<Self, QueueError> {
        let (owners, gate) = lock_for_open(path).map_err(open_error)?;
        let mut opened = OpenReport::default();
        let options = LedgerOptions::default();
        let connection =
            file::open(path, &options, &QUEUE_SCHEMA, &mut opened).map_err(open_error)?;
        drop(gate);
        let place = Some(SameFile::at(path));
        Self { connection, place, owners: Some(owners), owner: None }.with_secure_delete()
    }

    fn memory() -> Result<Self, QueueError> {
        let failed = |error: rusqlite::Error| store_error(error.to_string(), "try again");
        let mut connection = Connection::open_in_memory().map_err(failed)?;
        migrate(&mut connection, Path::new(":memory:"), &QUEUE_SCHEMA).map_err(open_error)?;
        Self { connection, place: None, owners: None, owner: None }.with_secure_delete()
    }

    fn with_secure_delete(self) -> Result<Self, QueueError> {
        // Answers may be confidential, and SQLite leaves deleted content in free pages.
        let set = self.connection.pragma_update(None, "secure_delete", true);
        set.map_err(|error| store_error(error.to_string(), hint_for(&error)))?;
        Ok(self)
    }

    fn claim(&mut self, path: Option<&Path>) -> Result<(), QueueError> {
        let Some(path) = path.filter(|_| self.owner.is_none()) else { return Ok(()) };
        let (owners, gate) = lock_for_open(path).map_err(open_error)?;
        let owner = ProcessLock::claim(&owners, &gate)
            .map_err(|error| open_error(FileError::from_folder(path, &error)))?;
        self.owner = Some(owner);
        Ok(())
    }

    /// Sets `is_left`, whether the process that waits for the entry has ended.
    fn with_liveness(&self, entry: QueueEntry) -> QueueEntry {
        let owners = self.owners.as_ref().filter(|_| entry.state == EntryState::Waiting);
        let is_left = owners.is_some_and(|owners| !is_alive(owners, &entry.owner));
        QueueEntry { is_left, ..entry }
    }

    /// Ends expired entries and those of dead processes. Writes only if there are any.
    fn sweep(&mut self) -> Result<(), QueueRowError> {
        let mut dead = Vec::new();
        if let Some(owners) = &self.owners {
            dead = rows::owners(&self.connection)?;
            dead.retain(|owner| !is_alive(owners, owner));
        }
        let abandoned = rows::abandoned_entries(&self.connection, &dead)?;
        if abandoned.is_empty() && !rows::has_expired(&self.connection)? {
            return Ok(());
        }
        // `Immediate` takes the write lock at once; upgrading a read lock could fail as busy.
        let behavior = TransactionBehavior::Immediate;
        let transaction = self.connection.transaction_with_behavior(behavior)?;
        rows::sweep(&transaction, &abandoned)?;
        transaction.commit()?;
        Ok(())
    }
}

impl QueueStore for QueueFile {
    fn post(&self, asked: &QueuedQuestion, limit: Duration) -> Result<QueueEntry, QueueError> {
        self.write(|connection, here| rows::post(connection, here, asked, limit), QueueRole::Owner)
    }

    fn list(&self) -> Result<Vec<QueueEntry>, QueueError> {
        if self.is_missing() {
            return Ok(Vec::new());
        }
        self.read(|open| {
            let listed = rows::list(&open.connection)?;
            Ok(listed.into_iter().map(|entry| open.with_liveness(entry)).collect())
        })
    }

    fn find(&self, id: &str) -> Result<QueueEntry, QueueError> {
        if self.is_missing() {
            return Err(QueueError::Unknown(id.to_owned()));
        }
        self.read(|open| rows::find(&open.connection, id).map(|entry| open.with_liveness(entry)))
    }

    fn answer(&self, answered: &QueueAnswer<'_>) -> Result<(), QueueError> {
        if self.is_missing() {
            return Err(QueueError::Unknown(answered.id.to_owned()));
        }
        self.write(|connection, _| rows::answer(connection, answered), QueueRole::Visitor)
    }

    fn end(&self, id: &str, state: &EntryState) -> Result<bool, QueueError> {
        self.write(|connection, _| rows::end(connection, id, state, None), QueueRole::Visitor)
    }

    fn is_over(&self, id: &str) -> Result<bool, QueueError> {
        let mut slot = self.open.lock();
        let open = self.ensure_open(&mut slot)?;
        rows::is_over(&open.connection, id).map_err(|error| self.to_error(error.into()))
    }

    fn take(
        &self,
        id: &str,
        digest: &str,
    ) -> Result<(EntryState, Option<UserDecision>), QueueError> {
        let taken =
            self.write(|connection, _| rows::take(connection, id, digest), QueueRole::Visitor)?;
        if taken.1.is_some() && self.path.is_some() {
            let slot = self.open.lock();
            if let Some(open) = slot.as_ref() {
                // The write-ahead log still contains the answer. If a reader blocks this, the next
                // checkpoint removes it.
                let _kept =
                    open.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
            }
        }
        Ok(taken)
    }
}

fn store_error(reason: String, hint: &'static str) -> QueueError {
    QueueError::Store { reason, hint }
}

fn open_error(error: FileError) -> QueueError {
    match error {
        FileError::Open { path, reason, hint } => {
            store_error(format!("{}: {reason}", path.display()), hint)
        }
        FileError::TooNew { path, found, known } => store_error(
            format!("{} has format {found}; the newest supported is {known}", path.display()),
            "update this program, or use another state folder",
        ),
        FileError::Exposed { path } => store_error(
            format!("every user of this machine can write to the folder {}", path.display()),
            "remove write access for other users: `chmod o-w`",
        ),
    }
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;
