//! The handle on conversations: begins, continues, forks, finds and reads them.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use jiff::Timestamp;
use parking_lot::Mutex;
use rusqlite::{Connection, TransactionBehavior};
use switchboard_core::Durability;
use switchboard_files::{Lock, LockError, parent_folder};

use crate::entry::OpenReport;
use crate::file;
use crate::file::{FileError, is_damage, lock_for_open, mark_suspect};
use crate::ledger::{COMMIT_TIMEOUT, LedgerOptions};
use crate::same_file::SameFile;
use crate::schema::migrate;
use crate::sessions::error::SessionError;
use crate::sessions::find::{check_name, find};
use crate::sessions::id::SessionId;
use crate::sessions::rows as store;
use crate::sessions::rows::{SESSIONS_SCHEMA, SessionField, SessionRowError};

/// Conversations that survive the process; clones are handles on the same file.
///
/// Every change is one commit. A method that is given up while it waits may still have done its
/// work.
#[derive(Debug, Clone)]
pub struct SessionStore(Arc<SessionStoreShared>);

#[derive(Debug)]
struct SessionStoreShared {
    connection: Mutex<Connection>,
    file: Option<(PathBuf, OpenReport)>,
    place: Option<SameFile>,
}

/// A conversation that begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSession {
    /// What its owner calls it.
    pub name: Option<String>,
    /// The model it is held with.
    pub model: String,
    /// The folder it is about.
    pub folder: PathBuf,
}

/// A conversation in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionSummary {
    pub id: SessionId,
    /// What its owner calls it.
    pub name: Option<String>,
    /// The model it is held with.
    pub model: String,
    /// The folder it is about.
    pub folder: PathBuf,
    pub created_at: Timestamp,
    /// When its last step was added.
    pub changed_at: Timestamp,
    /// How many steps it has.
    pub steps: u64,
    /// The conversation it was forked from and the last step taken from there. That conversation
    /// may have been deleted since.
    pub parent: Option<(SessionId, u64)>,
    /// Its first words, as the face set them.
    pub opening: Option<String>,
}

/// One step of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionStep {
    /// Its place, from 1.
    pub number: u64,
    /// When it was added.
    pub at: Timestamp,
    /// What kind of step it is, in the words of the face.
    pub kind: String,
    /// The JSON text of it.
    pub body: Bytes,
}

/// How a transaction begins, and how its failure is told.
#[derive(Debug, Clone, Copy)]
enum TransactionAccess {
    Read,
    Write,
}

impl SessionStore {
    /// Opens or creates the file at `path`; blocks for a short time.
    ///
    /// # Errors
    /// If the file or its folder cannot be used.
    pub fn open(path: &Path, durability: Durability) -> Result<Self, SessionError> {
        let (_, gate) = lock_for_open(path)?;
        let options = LedgerOptions { durability, ..LedgerOptions::default() };
        let mut opened = OpenReport::default();
        let connection = file::open(path, &options, &SESSIONS_SCHEMA, &mut opened)?;
        drop(gate);
        Ok(Self::from_connection(connection, Some((path.to_owned(), opened))))
    }

    /// Conversations that are gone with the last handle.
    ///
    /// # Errors
    /// If there is no memory for them.
    pub fn in_memory() -> Result<Self, SessionError> {
        let place = Path::new(":memory:");
        let mut connection =
            Connection::open_in_memory().map_err(|error| FileError::from_open(place, &error))?;
        migrate(&mut connection, place, &SESSIONS_SCHEMA)?;
        Ok(Self::from_connection(connection, None))
    }

    /// The file; none if nothing outlives the handle.
    pub fn path(&self) -> Option<&Path> {
        self.0.file.as_ref().map(|(path, _)| path.as_path())
    }

    /// What happened while the file was opened; none if nothing outlives the handle.
    #[must_use]
    pub fn open_report(&self) -> Option<&OpenReport> {
        self.0.file.as_ref().map(|(_, opened)| opened)
    }

    /// Begins a conversation without steps.
    ///
    /// # Errors
    /// If the name is not one, or nothing can be written.
    pub async fn create(&self, new: NewSession) -> Result<SessionId, SessionError> {
        let name = new.name.as_deref().map(check_name).transpose()?;
        let new = NewSession { name, ..new };
        let now = Timestamp::now();
        self.run(TransactionAccess::Write, move |connection| store::create(connection, now, &new))
            .await
    }

    /// Adds step `number`; it is on disk when this returns.
    ///
    /// # Errors
    /// `Conflict` if it is not exactly the next one, for then another process went on.
    pub async fn append(
        &self,
        id: &SessionId,
        number: u64,
        kind: &str,
        body: Bytes,
    ) -> Result<(), SessionError> {
        let step = SessionStep { number, at: Timestamp::now(), kind: kind.to_owned(), body };
        let id = id.clone();
        self.run(TransactionAccess::Write, move |connection| store::append(connection, &id, &step))
            .await
    }

    /// All steps, in order.
    ///
    /// # Errors
    /// If there is no such conversation, or not all of it can be read.
    pub async fn steps(&self, id: &SessionId) -> Result<Vec<SessionStep>, SessionError> {
        let id = id.clone();
        self.run(TransactionAccess::Read, move |connection| store::steps(connection, &id)).await
    }

    /// Conversations, last changed first.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub async fn list(&self, limit: u32) -> Result<Vec<SessionSummary>, SessionError> {
        self.run(TransactionAccess::Read, move |connection| Ok(store::list(connection, limit)?))
            .await
    }

    /// The conversation with that id or name, whose id begins so, or that was changed `last`.
    ///
    /// # Errors
    /// `Unknown` or `Ambiguous` if the word does not mean exactly one.
    pub async fn find(&self, word: &str) -> Result<SessionSummary, SessionError> {
        let word = word.to_owned();
        self.run(TransactionAccess::Read, move |connection| find(connection, &word)).await
    }

    /// Gives the conversation a name; several may have the same.
    ///
    /// # Errors
    /// If the name is not one, or there is no such conversation.
    pub async fn rename(&self, id: &SessionId, name: &str) -> Result<(), SessionError> {
        self.set(id, SessionField::Name, check_name(name)?).await
    }

    /// Sets the words that a list shows of it.
    ///
    /// # Errors
    /// If there is no such conversation.
    pub async fn set_opening(&self, id: &SessionId, text: &str) -> Result<(), SessionError> {
        self.set(id, SessionField::Opening, text.to_owned()).await
    }

    /// Sets the model it is held with.
    ///
    /// # Errors
    /// If there is no such conversation.
    pub async fn set_model(&self, id: &SessionId, model: &str) -> Result<(), SessionError> {
        self.set(id, SessionField::Model, model.to_owned()).await
    }

    /// Removes the conversation with its steps and texts; forks of it stay.
    ///
    /// # Errors
    /// If there is no such conversation.
    pub async fn delete(&self, id: &SessionId) -> Result<(), SessionError> {
        let id = id.clone();
        self.run(TransactionAccess::Write, move |connection| store::delete(connection, &id)).await
    }

    /// Copies the steps up to `upto` and all kept texts into a conversation of its own.
    ///
    /// # Errors
    /// `NoSuchStep` if there is no such step.
    pub async fn fork(
        &self,
        id: &SessionId,
        upto: u64,
        name: Option<String>,
    ) -> Result<SessionId, SessionError> {
        let name = name.as_deref().map(check_name).transpose()?;
        let id = id.clone();
        let now = Timestamp::now();
        self.run(TransactionAccess::Write, move |connection| {
            store::fork(connection, now, &id, upto, name.as_deref())
        })
        .await
    }

    /// Keeps a long text that is read in parts; one with the same handle is replaced.
    ///
    /// # Errors
    /// If there is no such conversation.
    pub async fn keep_text(
        &self,
        id: &SessionId,
        handle: &str,
        text: &str,
    ) -> Result<(), SessionError> {
        let id = id.clone();
        let handle = handle.to_owned();
        let text = text.to_owned();
        self.run(TransactionAccess::Write, move |connection| {
            store::keep_text(connection, &id, &handle, &text)
        })
        .await
    }

    /// A text that was kept.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub async fn text(&self, id: &SessionId, handle: &str) -> Result<Option<String>, SessionError> {
        let id = id.clone();
        let handle = handle.to_owned();
        self.run(TransactionAccess::Read, move |connection| {
            Ok(store::text(connection, &id, &handle)?)
        })
        .await
    }

    fn from_connection(connection: Connection, file: Option<(PathBuf, OpenReport)>) -> Self {
        let place = file.as_ref().map(|(path, _)| SameFile::at(path));
        Self(Arc::new(SessionStoreShared { connection: Mutex::new(connection), file, place }))
    }

    async fn set(
        &self,
        id: &SessionId,
        field: SessionField,
        value: String,
    ) -> Result<(), SessionError> {
        let id = id.clone();
        self.run(TransactionAccess::Write, move |connection| {
            store::set(connection, &id, field, &value)
        })
        .await
    }

    /// Does the work in one transaction, on a thread that may wait for the disk.
    async fn run<T: Send + 'static>(
        &self,
        access: TransactionAccess,
        work: impl FnOnce(&Connection) -> Result<T, SessionRowError> + Send + 'static,
    ) -> Result<T, SessionError> {
        let shared = Arc::clone(&self.0);
        let working = tokio::task::spawn_blocking(move || shared.transact(access, work));
        match tokio::time::timeout(COMMIT_TIMEOUT, working).await {
            Ok(Ok(done)) => done,
            Ok(Err(error)) => Err(access.abort_error(error.to_string())),
            Err(_) => Err(access.slow()),
        }
    }
}

impl SessionStoreShared {
    fn transact<T>(
        &self,
        access: TransactionAccess,
        work: impl FnOnce(&Connection) -> Result<T, SessionRowError>,
    ) -> Result<T, SessionError> {
        let mut connection = self.connection.lock();
        let placed = self.place.as_ref().map_or(Ok(()), SameFile::check);
        let done = placed
            .map_err(SessionRowError::from)
            .and_then(|()| in_transaction(&mut connection, access, work));
        drop(connection);
        done.map_err(|trouble| match trouble {
            SessionRowError::Refused(error) => error,
            SessionRowError::Database(error) => {
                if let Some((path, _)) = self.file.as_ref().filter(|_| is_damage(&error)) {
                    mark_suspect(path);
                }
                access.error(&error)
            }
        })
    }
}

fn in_transaction<T>(
    connection: &mut Connection,
    access: TransactionAccess,
    work: impl FnOnce(&Connection) -> Result<T, SessionRowError>,
) -> Result<T, SessionRowError> {
    let behavior = match access {
        TransactionAccess::Read => TransactionBehavior::Deferred,
        TransactionAccess::Write => TransactionBehavior::Immediate,
    };
    let transaction = connection.transaction_with_behavior(behavior)?;
    let done = work(&transaction)?;
    transaction.commit()?;
    Ok(done)
}

impl TransactionAccess {
    fn error(self, error: &rusqlite::Error) -> SessionError {
        match self {
            Self::Read => SessionError::from_read(error),
            Self::Write => SessionError::from_write(error),
        }
    }

    fn slow(self) -> SessionError {
        match self {
            Self::Read => SessionError::Read("the disk does not answer".to_owned()),
            Self::Write => SessionError::slow(),
        }
    }

    /// The work was broken off; nothing of it was committed.
    fn abort_error(self, reason: String) -> SessionError {
        match self {
            Self::Read => SessionError::Read(reason),
            Self::Write => SessionError::Write { reason, hint: "try again" },
        }
    }
}

/// The right to go on with a conversation, until it is dropped or the process ends.
#[derive(Debug)]
pub struct SessionLock {
    _lock: Option<Lock>,
}

impl SessionStore {
    /// Takes the right to go on with a conversation.
    ///
    /// # Errors
    /// When another process has it, or there is no way to tell.
    pub fn lock_session(&self, id: &SessionId) -> Result<SessionLock, SessionError> {
        // What is only in memory is nobody else's.
        let Some(path) = self.path() else { return Ok(SessionLock { _lock: None }) };
        let folder = parent_folder(path).join("held");
        let trouble = |error: std::io::Error| SessionError::Write {
            reason: error.to_string(),
            hint: "look at the folder of the conversations",
        };
        fs::create_dir_all(&folder).map_err(trouble)?;
        match Lock::acquire(&folder.join(format!("{id}.lock")), Duration::ZERO) {
            Ok(lock) => Ok(SessionLock { _lock: Some(lock) }),
            Err(LockError::Held) => Err(SessionError::InUse { id: id.clone() }),
            Err(LockError::Io(error)) => Err(trouble(error)),
        }
    }
}

#[cfg(test)]
#[path = "store_tests.rs"]
pub(crate) mod tests;
