//! Changes that were told, or lists that failed, and are not listed yet.

use std::time::{Duration, Instant};

use tokio::time::sleep_until;

use crate::connect::back_off::back_off;
use crate::connect::listing::Kinds;

/// Changes are gathered until none came for so long, and at most for so long.
const GATHER: (Duration, Duration) = (Duration::from_millis(300), Duration::from_secs(2));

/// What is to be listed, and when.
#[derive(Default)]
pub(super) struct Changed {
    kinds: Kinds,
    /// When the first of the changes was told.
    first: Option<Instant>,
    /// When to list.
    due: Option<Instant>,
    /// Lists that failed in a row.
    failures: u32,
}

impl Changed {
    /// Gathers changes: they are listed soon, but not each by itself.
    pub(super) fn mark(&mut self, kinds: Kinds) {
        let now = Instant::now();
        let first = *self.first.get_or_insert(now);
        self.due = Some((now + GATHER.0).min(first + GATHER.1));
        self.add(kinds);
    }

    /// Lists what failed once more, later and later.
    pub(super) fn try_later(&mut self, failed: Kinds) {
        if !failed.contains(&true) {
            self.failures = 0;
            return;
        }
        self.failures += 1;
        let later = Instant::now() + back_off(self.failures + 2, 0);
        self.due.get_or_insert(later);
        self.add(failed);
    }

    fn add(&mut self, kinds: Kinds) {
        for (marked, new) in self.kinds.iter_mut().zip(kinds) {
            *marked |= new;
        }
    }

    /// What is to be listed; afterwards nothing is.
    pub(super) fn take(&mut self) -> Kinds {
        (self.first, self.due) = (None, None);
        std::mem::take(&mut self.kinds)
    }

    /// Waits until it is time to list.
    pub(super) async fn settled(&self) {
        match self.due {
            Some(due) => sleep_until(due.into()).await,
            None => std::future::pending().await,
        }
    }
}
