//! Whether the ledger can be written now, for all who ask without waiting and for all who want to be
//! told.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use crate::same_file::SameFile;
use switchboard_core::Published;

use crate::error::LedgerError;
use crate::ledger::Ledger;

/// So long it is taken for granted that the file is where it was, in milliseconds.
const FILE_CHECK_MS: u64 = 100;

/// Set by the writer, read by every call.
#[derive(Debug)]
pub(crate) struct LedgerStatus {
    broken: AtomicBool,
    trouble: Published<Option<LedgerError>>,
    place: LedgerFileCheck,
}

/// Where the file is, looked after by those who call: what is written to a file that somebody
/// removed is found by nobody, and the system says nothing of it.
#[derive(Debug)]
struct LedgerFileCheck {
    file: SameFile,
    since: Instant,
    checked_at: AtomicU64,
    is_gone: AtomicBool,
}

impl LedgerStatus {
    /// The state of the file at `path`, which is open.
    pub(crate) fn new(path: &Path) -> Self {
        let place = LedgerFileCheck {
            file: SameFile::at(path),
            since: Instant::now(),
            checked_at: AtomicU64::new(0),
            is_gone: AtomicBool::new(false),
        };
        Self { broken: AtomicBool::new(false), trouble: Published::new(None), place }
    }

    /// Fails at once while nothing can be written.
    pub(crate) fn check(&self) -> Result<(), LedgerError> {
        if self.broken.load(Ordering::Acquire) {
            return Err(self.trouble());
        }
        if self.place.is_gone()
            && let Err(error) = self.place.file.check()
        {
            return Err(LedgerError::from_write(&error));
        }
        Ok(())
    }

    pub(crate) fn set(&self, trouble: Option<LedgerError>) {
        let broken = trouble.is_some();
        let words = |trouble: &Option<LedgerError>| trouble.as_ref().map(ToString::to_string);
        // It is tried again and again: who is told of changes is told of each trouble once.
        if words(&self.trouble.load()) != words(&trouble) {
            self.trouble.publish(trouble);
        }
        self.broken.store(broken, Ordering::Release);
    }

    fn trouble(&self) -> LedgerError {
        let trouble = self.trouble.load();
        // The writer may have recovered between the two reads; the next call will see that.
        Option::clone(&trouble).unwrap_or_else(LedgerError::queue_full)
    }
}

impl Ledger {
    /// Why calls are refused, while they are; nothing where nothing is kept.
    #[must_use]
    pub fn trouble(&self) -> Option<Published<Option<LedgerError>>> {
        self.writer_link().map(|link| link.shared.status.trouble.clone())
    }
}

impl LedgerFileCheck {
    fn is_gone(&self) -> bool {
        let now = u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX);
        if now.saturating_sub(self.checked_at.load(Ordering::Relaxed)) >= FILE_CHECK_MS {
            self.is_gone.store(self.file.check().is_err(), Ordering::Relaxed);
            self.checked_at.store(now, Ordering::Relaxed);
        }
        self.is_gone.load(Ordering::Relaxed)
    }
}
