//! The handle on conversations: creates, continues, forks, finds and reads them.

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

/// A store of conversations. Clones share the same file.
///
/// Every change is one commit. A cancelled method may still complete its work.
#[derive(Debug, Clone)]
pub struct SessionStore(Arc<SessionStoreShared>);

#[derive(Debug)]
struct SessionStoreShared {
    connection: Mutex<Connection>,
    file: Option<(PathBuf, OpenReport)>,
    place: Option<SameFile>,
}

/// A conversation to create.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSession {
    pub name: Option<String>,
    pub model: String,
    pub folder: PathBuf,
}

/// A conversation in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionSummary {
    pub id: SessionId,
    pub name: Option<String>,
    pub model: String,
    /// The working folder of the conversation.
    pub folder: PathBuf,
    pub created_at: Timestamp,
    /// When the last step was added.
    pub changed_at: Timestamp,
    pub steps: u64,
    /// The conversation that it was forked from, possibly deleted, and the last copied step.
    pub parent: Option<(SessionId, u64)>,
    /// The first words of the conversation, as set by the face.
    pub opening: Option<String>,
}

/// A step of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionStep {
    /// Position in the conversation, from 1.
    pub number: u64,
    pub at: Timestamp,
    /// Kind of the step, as named by the face.
    pub kind: String,
    /// The step as JSON text.
    pub body: Bytes,
}

/// The access that determines the locking of a transaction and its error type.
#[derive(Debug, Clone, Copy)]
enum TransactionAccess {
    Read,
    Write,
}

impl SessionStore {
    /// Opens or creates the store at `path`. Blocks for a short time.
    pub fn open(path: &Path, durability: Durability) -> Result<Self, SessionError> {
        let (_, gate) = lock_for_open(path)?;
        let options = LedgerOptions { durability, ..LedgerOptions::default() };
        let mut opened = OpenReport::default();
        let connection = file::open(path, &options, &SESSIONS_SCHEMA, &mut opened)?;
        // The lock only protects opening and migrating; SQLite handles concurrent use.
        drop(gate);
        Ok(Self::from_connection(connection, Some((path.to_owned(), opened))))
    }

    /// Returns a store that is lost with its last handle.
    pub fn in_memory() -> Result<Self, SessionError> {
        let place = Path::new(":memory:");
        let mut connection =
            Connection::open_in_memory().map_err(|error| FileError::from_open(place, &error))?;
        migrate(&mut connection, place, &SESSIONS_SCHEMA)?;
        Ok(Self::from_connection(connection, None))
    }

    /// Returns the path of the file, or `None` if the store is in memory.
    pub fn path(&self) -> Option<&Path> {
        self.0.file.as_ref().map(|(path, _)| path.as_path())
    }

    /// Returns the report about opening the file, or `None` if the store is in memory.
    #[must_use]
    pub fn open_report(&self) -> Option<&OpenReport> {
        self.0.file.as_ref().map(|(_, opened)| opened)
    }

    /// Creates a conversation without steps.
    pub async fn create(&self, new: NewSession) -> Result<SessionId, SessionError> {
        let name = new.name.as_deref().map(check_name).transpose()?;
        let new = NewSession { name, ..new };
        let now = Timestamp::now();
        self.run(TransactionAccess::Write, move |connection| store::create(connection, now, &new))
            .await
    }

    /// Adds step `number`, committed when this returns. Fails with `Conflict` if another process
    /// has added that step.
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

    /// Returns all steps in order.
    pub async fn steps(&self, id: &SessionId) -> Result<Vec<SessionStep>, SessionError> {
        let id = id.clone();
        self.run(TransactionAccess::Read, move |connection| store::steps(connection, &id)).await
    }

    /// Returns the conversations, most recently changed first.
    pub async fn list(&self, limit: u32) -> Result<Vec<SessionSummary>, SessionError> {
        self.run(TransactionAccess::Read, move |connection| Ok(store::list(connection, limit)?))
            .await
    }

    /// Returns the conversation with this id, name or prefix of an id, or the `last` changed one.
    pub async fn find(&self, word: &str) -> Result<SessionSummary, SessionError> {
        let word = word.to_owned();
        self.run(TransactionAccess::Read, move |connection| find(connection, &word)).await
    }

    /// Names the conversation. Names do not have to be unique.
    pub async fn rename(&self, id: &SessionId, name: &str) -> Result<(), SessionError> {
        self.set(id, SessionField::Name, check_name(name)?).await
    }

    /// Sets the first words that lists show.
    pub async fn set_opening(&self, id: &SessionId, text: &str) -> Result<(), SessionError> {
        self.set(id, SessionField::Opening, text.to_owned()).await
    }

    /// Sets the model of the conversation.
    pub async fn set_model(&self, id: &SessionId, model: &str) -> Result<(), SessionError> {
        self.set(id, SessionField::Model, model.to_owned()).await
    }

    /// Deletes the conversation with its steps and texts. Its forks remain.
    pub async fn delete(&self, id: &SessionId) -> Result<(), SessionError> {
        let id = id.clone();
        self.run(TransactionAccess::Write, move |connection| store::delete(connection, &id)).await
    }

    /// Copies the steps up to `upto`, and all stored texts, to a new conversation.
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

    /// Stores a long text that is read in parts. Replaces a text with the same handle.
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

    /// Returns the stored text with this handle.
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

    /// Runs `work` in one transaction on a blocking thread.
    async fn run<T: Send + 'static>(
        &self,
        access: TransactionAccess,
        work: impl FnOnce(&Connection) -> Result<T, SessionRowError> + Send + 'static,
    ) -> Result<T, SessionError> {
        let shared = Arc::clone(&self.0);
        let working = tokio::task::spawn_blocking(move || shared.transact(access, work));
        // After a timeout the work may still complete, so the caller has to read again.
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
        // Steps written to a file that was moved away would be lost.
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
    // A deferred transaction that writes later may fail as busy, so writes lock at once.
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
            Self::Read => SessionError::Read("the disk does not respond".to_owned()),
            Self::Write => SessionError::slow(),
        }
    }

    /// Returns the error of work that panicked or was cancelled. Its transaction was rolled back.
    fn abort_error(self, reason: String) -> SessionError {
        match self {
            Self::Read => SessionError::Read(reason),
            Self::Write => SessionError::Write { reason, hint: "try again" },
        }
    }
}

/// The exclusive right to continue a conversation, until it is dropped or the process ends.
#[derive(Debug)]
pub struct SessionLock {
    _lock: Option<Lock>,
}

impl SessionStore {
    /// Acquires the exclusive right to continue a conversation, unless another process has it.
    pub fn lock_session(&self, id: &SessionId) -> Result<SessionLock, SessionError> {
        // A store in memory is not shared with other processes.
        let Some(path) = self.path() else { return Ok(SessionLock { _lock: None }) };
        let folder = parent_folder(path).join("held");
        let trouble = |error: std::io::Error| SessionError::Write {
            reason: error.to_string(),
            hint: "check the folder of the conversations",
        };
        fs::create_dir_all(&folder).map_err(trouble)?;
        // No waiting: the other process may keep the conversation open for hours.
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
