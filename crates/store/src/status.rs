//! Whether the ledger can be written: an immediate check, and a published state to subscribe to.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use crate::same_file::SameFile;
use switchboard_core::Published;

use crate::error::LedgerError;
use crate::ledger::Ledger;

/// How long the result of a file check is reused, in milliseconds; every call checks it.
const FILE_CHECK_MS: u64 = 100;

/// Whether the ledger can be written. Set by the writer, read by every call.
#[derive(Debug)]
pub(crate) struct LedgerStatus {
    broken: AtomicBool,
    trouble: Published<Option<LedgerError>>,
    place: LedgerFileCheck,
}

/// Detects that the file was moved or removed: writes to it would succeed and be lost.
#[derive(Debug)]
struct LedgerFileCheck {
    file: SameFile,
    since: Instant,
    checked_at: AtomicU64,
    is_gone: AtomicBool,
}

impl LedgerStatus {
    pub(crate) fn new(path: &Path) -> Self {
        let place = LedgerFileCheck {
            file: SameFile::at(path),
            since: Instant::now(),
            checked_at: AtomicU64::new(0),
            is_gone: AtomicBool::new(false),
        };
        Self { broken: AtomicBool::new(false), trouble: Published::new(None), place }
    }

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
        // Retries report the same error again; publish it once.
        if words(&self.trouble.load()) != words(&trouble) {
            self.trouble.publish(trouble);
        }
        self.broken.store(broken, Ordering::Release);
    }

    fn trouble(&self) -> LedgerError {
        let trouble = self.trouble.load();
        // The writer may have recovered between the two loads; the next call sees that.
        Option::clone(&trouble).unwrap_or_else(LedgerError::queue_full)
    }
}

impl Ledger {
    /// Returns the current write error as a published value, or `None` if the ledger is off.
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
