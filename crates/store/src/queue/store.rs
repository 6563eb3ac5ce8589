//! The interface of the review queue, through which every process can see and answer entries.

use std::time::Duration;

use crate::queue::entry::{EntryState, QueueEntry, QueuedQuestion};
use crate::queue::user_decision::UserDecision;

/// Storage of queue entries. All methods may block for a short time.
///
/// An entry ends once: if several callers try to end it, one succeeds.
pub trait QueueStore: Send + Sync {
    /// Adds an entry that this process waits for.
    ///
    /// # Errors
    /// If the entry cannot be stored.
    fn post(&self, asked: &QueuedQuestion, limit: Duration) -> Result<QueueEntry, QueueError>;

    /// Returns the pending entries, oldest first, without those that expired or that a dead process
    /// abandoned.
    ///
    /// # Errors
    /// If the queue cannot be read.
    fn list(&self) -> Result<Vec<QueueEntry>, QueueError>;

    /// Returns the entry with this id, in any state.
    ///
    /// # Errors
    /// If there is no such entry, or the queue cannot be read.
    fn find(&self, id: &str) -> Result<QueueEntry, QueueError>;

    /// Answers a pending entry.
    ///
    /// # Errors
    /// If the entry has ended, or the digest does not match it.
    fn answer(&self, answered: &QueueAnswer<'_>) -> Result<(), QueueError>;

    /// Ends an entry of this process. Returns false if it had already ended.
    ///
    /// # Errors
    /// If the queue cannot be written.
    fn end(&self, id: &str, state: &EntryState) -> Result<bool, QueueError>;

    /// Returns whether an entry has ended.
    ///
    /// # Errors
    /// If the queue cannot be read.
    fn is_over(&self, id: &str) -> Result<bool, QueueError>;

    /// Returns the state of an entry of this process, and takes its answer. The answer is returned
    /// once, and then erased from the queue.
    ///
    /// # Errors
    /// If the queue cannot be read, or the entry does not match the digest.
    fn take(
        &self,
        id: &str,
        digest: &str,
    ) -> Result<(EntryState, Option<UserDecision>), QueueError>;
}

/// An answer to an entry.
#[derive(Clone, Copy, Debug)]
pub struct QueueAnswer<'a> {
    pub id: &'a str,
    /// Digest of the entry that the person saw.
    pub digest: &'a str,
    pub decision: &'a UserDecision,
    pub by: &'a str,
}

/// An error of listing, finding or answering entries.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QueueError {
    #[error("nothing that waits is called `{0}`")]
    Unknown(String),
    /// The entry was already answered, was withdrawn, or expired.
    #[error("`{id}` does not wait any more: {how}")]
    Over { id: String, how: String },
    /// The digest does not match the entry.
    #[error("the digest is not that of `{id}`: the answer was meant for something else")]
    OtherDigest { id: String },
    /// The answer does not fit the question.
    #[error("that is no answer to it: {0}")]
    DoesNotFit(String),
    /// The queue cannot be used.
    #[error("what waits for a person cannot be kept: {reason}")]
    Store { reason: String, hint: &'static str },
}

impl QueueError {
    /// Returns the remedy for this error.
    #[must_use]
    pub const fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Unknown(_) => Some("`switchboard review` lists what waits"),
            Self::OtherDigest { .. } => Some("look at it again, then answer"),
            Self::Store { hint, .. } => Some(hint),
            Self::Over { .. } | Self::DoesNotFit(_) => None,
        }
    }
}
