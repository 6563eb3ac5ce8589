//! Where what waits is kept, so that every process can see and answer it.

use std::time::Duration;

use crate::queue::entry::{EntryState, QueueEntry, QueuedQuestion};
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
    pub id: &'a str,
    /// What the person saw.
    pub digest: &'a str,
    pub decision: &'a UserDecision,
    pub by: &'a str,
}

/// Why what waits could not be listed, found or answered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QueueError {
    /// There is no such entry.
    #[error("nothing that waits is called `{0}`")]
    Unknown(String),
    /// Somebody was faster, or it is too late.
    #[error("`{id}` does not wait any more: {how}")]
    Over { id: String, how: String },
    /// The answer is to something else than what waits.
    #[error("the digest is not that of `{id}`: the answer was meant for something else")]
    OtherDigest { id: String },
    /// The answer is none to what was asked.
    #[error("that is no answer to it: {0}")]
    DoesNotFit(String),
    /// The file cannot be used.
    #[error("what waits for a person cannot be kept: {reason}")]
    Store {
        /// What stands in the way.
        reason: String,
        /// What to do about it.
        hint: &'static str,
    },
}

impl QueueError {
    /// What to do next.
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
