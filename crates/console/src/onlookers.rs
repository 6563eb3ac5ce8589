//! Whether somebody is at the pages, so that a question put there would be seen.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Whoever asked for something so lately is taken to be there.
const LATELY: Duration = Duration::from_secs(60);

/// Whether somebody is at the pages. Clones are handles on the same.
#[derive(Clone, Debug, Default)]
pub struct Onlookers(Arc<Seen>);

#[derive(Debug, Default)]
struct Seen {
    /// Pages that are open and listen.
    open: AtomicUsize,
    last: Mutex<Option<Instant>>,
}

impl Onlookers {
    /// Whether a page is open, or was asked for just now.
    #[must_use]
    pub fn is_there(&self) -> bool {
        let last = || *self.0.last.lock().unwrap_or_else(PoisonError::into_inner);
        self.0.open.load(Ordering::Relaxed) > 0 || last().is_some_and(|at| at.elapsed() < LATELY)
    }

    /// A browser that is signed in asked for something.
    pub(crate) fn seen(&self) {
        *self.0.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    /// A page is open until this is dropped.
    pub(crate) fn stay(&self) -> Staying {
        self.0.open.fetch_add(1, Ordering::Relaxed);
        Staying(self.clone())
    }
}

/// An open page.
pub(crate) struct Staying(Onlookers);

impl Drop for Staying {
    fn drop(&mut self) {
        self.0.seen();
        self.0.0.open.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn somebody_is_there_while_a_page_is_open_and_a_while_longer() {
        let onlookers = Onlookers::default();
        assert!(!onlookers.is_there());
        let (one, other) = (onlookers.stay(), onlookers.clone().stay());
        drop(one);
        *onlookers.0.last.lock().unwrap() = None;
        assert!(onlookers.is_there());
        drop(other);
        assert!(onlookers.is_there());
        *onlookers.0.last.lock().unwrap() = Instant::now().checked_sub(LATELY);
        assert!(!onlookers.is_there());
    }
}
