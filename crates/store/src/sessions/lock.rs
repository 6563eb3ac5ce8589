//! One process at a time goes on with a conversation.

use std::fs;
use std::time::Duration;

use switchboard_files::{Lock, LockError, parent_folder};

use crate::sessions::error::SessionError;
use crate::sessions::id::SessionId;
use crate::sessions::store::SessionStore;

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
mod tests {
    use switchboard_core::Durability;

    use super::*;

    #[test]
    fn one_at_a_time_goes_on_with_a_conversation() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("sessions.db");
        let ours = SessionStore::open(&file, Durability::Process).unwrap();
        let theirs = SessionStore::open(&file, Durability::Process).unwrap();
        let one = "aaaaaaaaaaaa";
        let other = "bbbbbbbbbbbb";
        let [one, other] = [one, other].map(|id| SessionId::parse(id).unwrap());
        let held = ours.lock_session(&one).unwrap();
        assert_eq!(theirs.lock_session(&one).unwrap_err(), SessionError::InUse { id: one.clone() });
        theirs.lock_session(&other).unwrap();
        drop(held);
        theirs.lock_session(&one).unwrap();
    }
}
