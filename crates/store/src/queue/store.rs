//! Where what waits is kept, so that every process can see and answer it.

use std::time::Duration;

use crate::queue::entry::{Asked, Entry, State};
use crate::queue::error::WaitingError;
use crate::queue::user_decision::Given;

/// Keeps what waits. All methods may block for a short time.
///
/// An entry ends once: of everyone who tries, one succeeds.
pub trait WaitingStore: Send + Sync {
    /// Adds an entry that this process waits for.
    ///
    /// # Errors
    /// When it cannot be kept.
    fn post(&self, asked: &Asked, limit: Duration) -> Result<Entry, WaitingError>;

    /// What waits, the oldest first. What expired or was left behind by a dead process does not.
    ///
    /// # Errors
    /// When it cannot be read.
    fn list(&self) -> Result<Vec<Entry>, WaitingError>;

    /// The entry of that name, whatever its state.
    ///
    /// # Errors
    /// When there is none, or it cannot be read.
    fn find(&self, id: &str) -> Result<Entry, WaitingError>;

    /// Answers an entry for whoever waits for it.
    ///
    /// # Errors
    /// When it does not wait any more, or the digest is that of something else.
    fn answer(&self, answered: &Answered<'_>) -> Result<(), WaitingError>;

    /// Ends an entry of this process; gives whether nobody else was faster.
    ///
    /// # Errors
    /// When it cannot be written.
    fn end(&self, id: &str, state: &State) -> Result<bool, WaitingError>;

    /// Whether an entry has ended.
    ///
    /// # Errors
    /// When it cannot be read.
    fn is_over(&self, id: &str) -> Result<bool, WaitingError>;

    /// How an entry of this process ended, and the answer if there is one: it is handed out once,
    /// and nothing of it is left.
    ///
    /// # Errors
    /// When it cannot be read, or is not what it was.
    fn take(&self, id: &str, digest: &str) -> Result<(State, Option<Given>), WaitingError>;
}

/// An answer to an entry.
#[derive(Clone, Copy, Debug)]
pub struct Answered<'a> {
    /// The entry.
    pub id: &'a str,
    /// What the person saw.
    pub digest: &'a str,
    /// What they said.
    pub given: &'a Given,
    /// At which face.
    pub by: &'a str,
}
