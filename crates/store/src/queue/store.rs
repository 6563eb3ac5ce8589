//! Where what waits is kept, so that every process can see and answer it.

use std::time::Duration;

use crate::queue::entry::{EntryState, QueueEntry, QueuedQuestion};
use crate::queue::error::QueueError;
use crate::queue::user_decision::UserDecision;

/// Keeps what waits. All methods may block for a short time.
///
/// An entry ends once: of everyone who tries, one succeeds.
pub trait QueueStore: Send + Sync {
    /// Adds an entry that this process waits for.
    ///
    /// # Errors
    /// When it cannot be kept.
    fn post(&self, asked: &QueuedQuestion, limit: Duration) -> Result<QueueEntry, QueueError>;

    /// What waits, the oldest first. What expired or was left behind by a dead process does not.
    ///
    /// # Errors
    /// When it cannot be read.
    fn list(&self) -> Result<Vec<QueueEntry>, QueueError>;

    /// The entry of that name, whatever its state.
    ///
    /// # Errors
    /// When there is none, or it cannot be read.
    fn find(&self, id: &str) -> Result<QueueEntry, QueueError>;

    /// Answers an entry for whoever waits for it.
    ///
    /// # Errors
    /// When it does not wait any more, or the digest is that of something else.
    fn answer(&self, answered: &QueueAnswer<'_>) -> Result<(), QueueError>;

    /// Ends an entry of this process; gives whether nobody else was faster.
    ///
    /// # Errors
    /// When it cannot be written.
    fn end(&self, id: &str, state: &EntryState) -> Result<bool, QueueError>;

    /// Whether an entry has ended.
    ///
    /// # Errors
    /// When it cannot be read.
    fn is_over(&self, id: &str) -> Result<bool, QueueError>;

    /// How an entry of this process ended, and the answer if there is one: it is handed out once,
    /// and nothing of it is left.
    ///
    /// # Errors
    /// When it cannot be read, or is not what it was.
    fn take(
        &self,
        id: &str,
        digest: &str,
    ) -> Result<(EntryState, Option<UserDecision>), QueueError>;
}

/// An answer to an entry.
#[derive(Clone, Copy, Debug)]
pub struct QueueAnswer<'a> {
    /// The entry.
    pub id: &'a str,
    /// What the person saw.
    pub digest: &'a str,
    /// What they said.
    pub decision: &'a UserDecision,
    /// At which face.
    pub by: &'a str,
}
