//! A queue entry that this process waits for, from its creation to its end.

use std::sync::atomic::Ordering;
use std::time::Duration;

use switchboard_store::{EntryState, QueueEntry, QueueError, UserDecision};
use tokio::time::sleep;

use crate::review::review_queue::{POLL_INTERVAL, ReviewQueue};

/// A queue entry that this process waits for; withdrawn if it is dropped before it has ended.
pub(super) struct PendingEntry {
    pub(super) entry: QueueEntry,
    counted: PendingCount,
    has_ended: bool,
}

/// Counts one entry that this process waits for, until it is dropped.
pub(super) struct PendingCount {
    queue: ReviewQueue,
    /// Whether a call waits for the answer, so that the process should keep running.
    is_needed: bool,
}

impl PendingEntry {
    pub(super) fn count(waiting: &ReviewQueue) -> PendingCount {
        waiting.0.own_count.fetch_add(1, Ordering::AcqRel);
        PendingCount { queue: waiting.clone(), is_needed: true }
    }

    /// Returns a guard that is not counted, for a question that no call waits for.
    pub(super) fn without_count(waiting: &ReviewQueue) -> PendingCount {
        PendingCount { queue: waiting.clone(), is_needed: false }
    }

    /// Waits until the entry has ended, by this process or another.
    pub(super) async fn wait_until_ended(&self) {
        let waiting = &self.counted.queue;
        loop {
            // Created before the check, so that a change right after it is not missed.
            let changed = waiting.0.changed.notified();
            let id = self.entry.id.clone();
            // A read error may be temporary, and the caller's deadline still applies.
            if waiting.with_store(move |store| store.is_over(&id)).await.unwrap_or(false) {
                return;
            }
            tokio::select! {
                () = changed => {}
                () = sleep(POLL_INTERVAL) => {}
            }
        }
    }

    /// Ends the entry; returns whether it was still pending.
    pub(super) async fn end(&mut self, state: EntryState) -> Result<bool, QueueError> {
        let id = self.entry.id.clone();
        let ended = self.counted.queue.with_store(move |store| store.end(&id, &state)).await;
        self.has_ended = ended.is_ok();
        ended
    }

    /// Returns how the entry ended, with the answer if there is one.
    pub(super) async fn take(mut self) -> Result<(EntryState, Option<UserDecision>), QueueError> {
        let id = self.entry.id.clone();
        let digest = self.entry.digest.clone();
        let taken = self.counted.queue.with_store(move |store| store.take(&id, &digest)).await;
        self.has_ended = taken.is_ok();
        taken
    }
}

impl PendingCount {
    pub(super) fn into_pending(self, entry: QueueEntry) -> PendingEntry {
        PendingEntry { entry, counted: self, has_ended: false }
    }
}

impl Drop for PendingCount {
    fn drop(&mut self) {
        if self.is_needed {
            self.queue.0.own_count.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

impl Drop for PendingEntry {
    fn drop(&mut self) {
        let is_ending = self.counted.queue.0.is_ending.load(Ordering::Acquire);
        if self.has_ended || is_ending && self.entry.asked.outlives_its_process() {
            return;
        }
        let waiting = self.counted.queue.clone();
        let id = self.entry.id.clone();
        let withdraw = move || {
            let why = "the call that needed it has ended".to_owned();
            // An entry left behind is withdrawn by the next reader, once this process has ended.
            _ = waiting.0.store.end(&id, &EntryState::Withdrawn { why });
        };
        match tokio::runtime::Handle::try_current() {
            // The store writes to disk, which must not block a worker thread.
            Ok(runtime) => drop(runtime.spawn_blocking(withdraw)),
            Err(_) => withdraw(),
        }
    }
}

/// Returns the time at which an entry that is posted now expires.
pub(super) fn deadline(limit: Duration) -> tokio::time::Instant {
    // Capped at a year, because adding a very long duration to an `Instant` would overflow.
    tokio::time::Instant::now() + limit.min(Duration::from_secs(86_400 * 365))
}
