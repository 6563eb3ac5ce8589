//! Detection of whether a person is looking at the pages and would see a question there.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// How long after its last request a browser counts as present.
const PRESENCE_WINDOW: Duration = Duration::from_secs(60);

/// Tracks whether a person is looking at the pages. Clones share the same state.
#[derive(Clone, Debug, Default)]
pub struct PagePresence(Arc<PagePresenceState>);

#[derive(Debug, Default)]
struct PagePresenceState {
    open: AtomicUsize,
    last: Mutex<Option<Instant>>,
}

impl PagePresence {
    /// Returns whether a page is open, or a browser sent a request recently.
    #[must_use]
    pub fn is_active(&self) -> bool {
        // An open event stream answers without the lock.
        let last = || *self.0.last.lock();
        self.0.open.load(Ordering::Relaxed) > 0
            || last().is_some_and(|at| at.elapsed() < PRESENCE_WINDOW)
    }

    pub(crate) fn touch(&self) {
        *self.0.last.lock() = Some(Instant::now());
    }

    /// Marks a page as open until the guard is dropped.
    pub(crate) fn open_page(&self) -> OpenPageGuard {
        self.0.open.fetch_add(1, Ordering::Relaxed);
        OpenPageGuard(self.clone())
    }
}

pub(crate) struct OpenPageGuard(PagePresence);

impl Drop for OpenPageGuard {
    fn drop(&mut self) {
        // A reload closes the stream and opens another; the person is present in between.
        self.0.touch();
        self.0.0.open.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn somebody_is_there_while_a_page_is_open_and_a_while_longer() {
        let onlookers = PagePresence::default();
        assert!(!onlookers.is_active());
        let one = onlookers.open_page();
        let other = onlookers.clone().open_page();
        drop(one);
        *onlookers.0.last.lock() = None;
        assert!(onlookers.is_active());
        drop(other);
        assert!(onlookers.is_active());
        *onlookers.0.last.lock() = Instant::now().checked_sub(PRESENCE_WINDOW);
        assert!(!onlookers.is_active());
    }
}
