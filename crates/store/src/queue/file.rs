//! The file in which what waits for a person is kept; opened when the first thing waits.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior};
use switchboard_files::process_lock::is_alive;
use switchboard_files::{Owner, SameFile};

use crate::entry::Opened;
use crate::file;
use crate::file::{enter, is_damage, suspect};
use crate::file_error::{FileError, hint_for};
use crate::ledger::LedgerOptions;
use crate::queue::entry::{Asked, Entry, State};
use crate::queue::error::WaitingError;
use crate::queue::rows;
use crate::queue::rows::{Here, Trouble, WAITING};
use crate::queue::store::{Answered, WaitingStore};
use crate::queue::user_decision::Given;
use crate::schema::migrate;

/// What waits, in a file that processes share, or only in memory.
#[derive(Debug)]
pub struct WaitingFile {
    path: Option<PathBuf>,
    open: Mutex<Option<Open>>,
}

#[derive(Debug)]
struct Open {
    connection: Connection,
    /// Where the file was; none in memory.
    place: Option<SameFile>,
    /// The folder of locks; none in memory, where nobody else is.
    owners: Option<PathBuf>,
    /// Our own lock, once something of ours waits.
    owner: Option<Owner>,
}

impl WaitingFile {
    /// The file at `path`, which is neither opened nor created yet.
    #[must_use]
    pub fn at(path: &Path) -> Arc<Self> {
        Arc::new(Self { path: Some(path.to_owned()), open: Mutex::default() })
    }

    /// The one below the folder for state, beside the ledger.
    #[must_use]
    pub fn below(state: &Path) -> Arc<Self> {
        Self::at(&state.join("record").join("waiting.db"))
    }

    /// What only this process can see.
    #[must_use]
    pub fn in_memory() -> Arc<Self> {
        Arc::new(Self { path: None, open: Mutex::default() })
    }

    /// Does the work in one transaction, after what is over has been ended.
    fn write<T>(
        &self,
        work: impl FnOnce(&Connection, &Here) -> Result<T, Trouble>,
        role: Role,
    ) -> Result<T, WaitingError> {
        let mut slot = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let open = self.opened(&mut slot)?;
        if role == Role::Owner {
            open.claim(self.path.as_deref())?;
        }
        let name = open.owner.as_ref().map_or_else(|| "here".to_owned(), |o| o.name().to_owned());
        let here = Here { name, owners: open.owners.clone() };
        let done = open.swept().and_then(|()| {
            let behavior = TransactionBehavior::Immediate;
            let transaction = open.connection.transaction_with_behavior(behavior)?;
            let done = work(&transaction, &here)?;
            transaction.commit()?;
            Ok(done)
        });
        done.map_err(|trouble| self.told(trouble))
    }

    fn read<T>(&self, work: impl FnOnce(&Open) -> Result<T, Trouble>) -> Result<T, WaitingError> {
        let mut slot = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let open = self.opened(&mut slot)?;
        let done = open.swept().and_then(|()| work(open));
        done.map_err(|trouble| self.told(trouble))
    }

    fn opened<'a>(&self, slot: &'a mut Option<Open>) -> Result<&'a mut Open, WaitingError> {
        // Nobody else sees what waits in a file that was moved or removed.
        slot.take_if(|open| open.place.as_ref().is_some_and(|place| place.check().is_err()));
        if slot.is_none() {
            *slot = Some(match &self.path {
                Some(path) => Open::file(path),
                None => Open::memory(),
            }?);
        }
        slot.as_mut().ok_or_else(|| store("it was closed".to_owned(), "try again"))
    }

    /// Whether nothing can wait, because nothing ever has.
    fn is_missing(&self) -> bool {
        let slot = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        slot.is_none() && self.path.as_ref().is_none_or(|path| !path.exists())
    }

    fn told(&self, trouble: Trouble) -> WaitingError {
        match trouble {
            Trouble::Refused(error) => error,
            Trouble::Database(error) => {
                if let Some(path) = self.path.as_ref().filter(|_| is_damage(&error)) {
                    suspect(path);
                }
                store(error.to_string(), hint_for(&error))
            }
        }
    }
}

/// Who works with the file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Whoever waits for an answer, and holds a lock for that.
    Owner,
    /// Whoever looks or answers.
    Visitor,
}

impl Open {
    fn file(path: &Path) -> Result<Self, WaitingError> {
        let (owners, gate) = enter(path).map_err(unusable)?;
        let mut opened = Opened::default();
        let options = LedgerOptions::default();
        let connection = file::open(path, &options, &WAITING, &mut opened).map_err(unusable)?;
        drop(gate);
        let place = Some(SameFile::at(path));
        Self { connection, place, owners: Some(owners), owner: None }.wiping()
    }

    fn memory() -> Result<Self, WaitingError> {
        let failed = |error: rusqlite::Error| store(error.to_string(), "try again");
        let mut connection = Connection::open_in_memory().map_err(failed)?;
        migrate(&mut connection, Path::new(":memory:"), &WAITING).map_err(unusable)?;
        Self { connection, place: None, owners: None, owner: None }.wiping()
    }

    /// What is deleted is overwritten: answers may be nobody else's business.
    fn wiping(self) -> Result<Self, WaitingError> {
        let set = self.connection.pragma_update(None, "secure_delete", true);
        set.map_err(|error| store(error.to_string(), hint_for(&error)))?;
        Ok(self)
    }

    fn claim(&mut self, path: Option<&Path>) -> Result<(), WaitingError> {
        let Some(path) = path.filter(|_| self.owner.is_none()) else { return Ok(()) };
        let (owners, gate) = enter(path).map_err(unusable)?;
        let owner = Owner::claim(&owners, &gate)
            .map_err(|error| unusable(FileError::from_folder(path, &error)))?;
        self.owner = Some(owner);
        Ok(())
    }

    /// The entry, with whether anybody waits for it at this moment.
    fn looked_after(&self, entry: Entry) -> Entry {
        let owners = self.owners.as_ref().filter(|_| entry.state == State::Waiting);
        let is_left = owners.is_some_and(|owners| !is_alive(owners, &entry.owner));
        Entry { is_left, ..entry }
    }

    /// Ends what expired and what dead processes left behind; writes only if there is any.
    fn swept(&mut self) -> Result<(), Trouble> {
        let mut dead = Vec::new();
        if let Some(owners) = &self.owners {
            dead = rows::owners(&self.connection)?;
            dead.retain(|owner| !is_alive(owners, owner));
        }
        let abandoned = rows::abandoned(&self.connection, &dead)?;
        if abandoned.is_empty() && !rows::has_expired(&self.connection)? {
            return Ok(());
        }
        let behavior = TransactionBehavior::Immediate;
        let transaction = self.connection.transaction_with_behavior(behavior)?;
        rows::sweep(&transaction, &abandoned)?;
        transaction.commit()?;
        Ok(())
    }
}

impl WaitingStore for WaitingFile {
    fn post(&self, asked: &Asked, limit: Duration) -> Result<Entry, WaitingError> {
        self.write(|connection, here| rows::post(connection, here, asked, limit), Role::Owner)
    }

    fn list(&self) -> Result<Vec<Entry>, WaitingError> {
        if self.is_missing() {
            return Ok(Vec::new());
        }
        self.read(|open| {
            let listed = rows::list(&open.connection)?;
            Ok(listed.into_iter().map(|entry| open.looked_after(entry)).collect())
        })
    }

    fn find(&self, id: &str) -> Result<Entry, WaitingError> {
        if self.is_missing() {
            return Err(WaitingError::Unknown(id.to_owned()));
        }
        self.read(|open| rows::find(&open.connection, id).map(|entry| open.looked_after(entry)))
    }

    fn answer(&self, answered: &Answered<'_>) -> Result<(), WaitingError> {
        if self.is_missing() {
            return Err(WaitingError::Unknown(answered.id.to_owned()));
        }
        self.write(|connection, _| rows::answer(connection, answered), Role::Visitor)
    }

    fn end(&self, id: &str, state: &State) -> Result<bool, WaitingError> {
        self.write(|connection, _| rows::end(connection, id, state, None), Role::Visitor)
    }

    fn is_over(&self, id: &str) -> Result<bool, WaitingError> {
        let mut slot = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let open = self.opened(&mut slot)?;
        rows::is_over(&open.connection, id).map_err(|error| self.told(error.into()))
    }

    fn take(&self, id: &str, digest: &str) -> Result<(State, Option<Given>), WaitingError> {
        let taken =
            self.write(|connection, _| rows::take(connection, id, digest), Role::Visitor)?;
        if taken.1.is_some() && self.path.is_some() {
            let slot = self.open.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(open) = slot.as_ref() {
                // The log still holds the answer. If a reader is in the way, the next one is not.
                let _kept =
                    open.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
            }
        }
        Ok(taken)
    }
}

fn store(reason: String, hint: &'static str) -> WaitingError {
    WaitingError::Store { reason, hint }
}

fn unusable(error: FileError) -> WaitingError {
    match error {
        FileError::Open { path, reason, hint } => {
            store(format!("{}: {reason}", path.display()), hint)
        }
        FileError::TooNew { path, found, known } => store(
            format!("{} has format {found}, this version knows up to {known}", path.display()),
            "update this program, or use another state folder",
        ),
        FileError::Exposed { path } => store(
            format!("every user of this machine can write to the folder {}", path.display()),
            "take the right to write away from others: chmod o-w",
        ),
    }
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;
