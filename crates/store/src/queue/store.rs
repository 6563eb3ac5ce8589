//! The interface of the review queue, through which every process can see and answer entries.

use std::time::Duration;

use crate::queue::entry::{EntryState, QueueEntry, QueuedQuestion};
use crate::queue::user_decision::UserDecision;

/// Storage of queue entries. All methods may block for a short time.
///
/// An entry ends once: if several callers try to end it, one succeeds.
pub trait QueueStore: Send + Sync {
    /// Adds an entry that this process waits for.
    fn post(&self, asked: &QueuedQuestion, limit: Duration) -> Result<QueueEntry, QueueError>;

    /// Returns the pending entries, oldest first, without expired and abandoned ones.
    fn list(&self) -> Result<Vec<QueueEntry>, QueueError>;

    /// Returns the entry with this id, in any state.
    fn find(&self, id: &str) -> Result<QueueEntry, QueueError>;

    /// Answers a pending entry, if the digest matches it.
    fn answer(&self, answered: &QueueAnswer<'_>) -> Result<(), QueueError>;

    /// Ends an entry of this process. Returns false if it had already ended.
    fn end(&self, id: &str, state: &EntryState) -> Result<bool, QueueError>;

    /// Returns whether an entry has ended.
    fn is_over(&self, id: &str) -> Result<bool, QueueError>;

    /// Returns the state of an entry of this process, and takes its answer. The answer is returned
    /// once, and then erased from the queue.
    fn take(
        &self,
        id: &str,
        digest: &str,
    ) -> Result<(EntryState, Option<UserDecision>), QueueError>;
}

/// A person's answer to an entry.
#[derive(Clone, Copy, Debug)]
pub struct QueueAnswer<'a> {
    pub id: &'a str,
    /// Digest of the entry that the person saw.
    pub digest: &'a str,
    pub decision: &'a UserDecision,
    pub by: &'a str,
}

/// Why an entry cannot be listed, found or answered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QueueError {
    #[error("no pending request named `{0}`")]
    Unknown(String),
    /// The entry was already answered, was withdrawn, or expired.
    #[error("`{id}` is no longer pending: {how}")]
    Over { id: String, how: String },
    #[error("digest mismatch for `{id}`: the answer is for another request")]
    OtherDigest { id: String },
    #[error("the answer does not fit the request: {0}")]
    DoesNotFit(String),
    #[error("the review queue cannot be used: {reason}")]
    Store { reason: String, hint: &'static str },
}

impl QueueError {
    /// Returns the remedy for this error.
    #[must_use]
    pub const fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Unknown(_) => Some("list the pending requests with `switchboard review`"),
            Self::OtherDigest { .. } => Some("review it again, then answer"),
            Self::Store { hint, .. } => Some(hint),
            Self::Over { .. } | Self::DoesNotFit(_) => None,
        }
    }
}
