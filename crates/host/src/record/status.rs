//! Whether the ledger can be written now, for all who ask without waiting.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use super::error::LedgerError;

/// Set by the writer, read by every call.
#[derive(Debug, Default)]
pub(super) struct Status {
    broken: AtomicBool,
    trouble: Mutex<Option<LedgerError>>,
}

impl Status {
    /// Fails at once while nothing can be written.
    pub(super) fn check(&self) -> Result<(), LedgerError> {
        if self.broken.load(Ordering::Acquire) { Err(self.trouble()) } else { Ok(()) }
    }

    pub(super) fn set(&self, trouble: Option<LedgerError>) {
        let broken = trouble.is_some();
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = trouble;
        self.broken.store(broken, Ordering::Release);
    }

    fn trouble(&self) -> LedgerError {
        let trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        // The writer may have recovered between the two reads; the next call will see that.
        trouble.clone().unwrap_or_else(LedgerError::overloaded)
    }
}
