//! The queue of pending reviews and questions: listed, watched and answered from any face.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use switchboard_core::{EventKind, Events};
use switchboard_store::{
    QueueAnswer, QueueEntry, QueueError, QueueStore, QueuedQuestion, UserDecision,
};
use tokio::sync::Notify;
use tokio::time::sleep;

use crate::call::in_flight::{CallDetails, InFlight};
use crate::review::ask::Asker;
use crate::review::check::check_decision;
use crate::review::pending_entry::PendingEntry;

/// Interval between polls for changes by other processes, which share only the file.
pub(super) const POLL_INTERVAL: Duration = Duration::from_millis(150);

/// How long a person may take to answer, unless the settings override it.
pub const DEFAULT_REVIEW_LIMIT: Duration = Duration::from_secs(5 * 60);

struct QueueHost {
    events: Events,
    calls: InFlight,
}

/// The queue of pending reviews and questions. Clones are handles on the same queue.
#[derive(Clone)]
pub struct ReviewQueue(pub(super) Arc<QueueShared>, Duration);

pub(super) struct QueueShared {
    pub store: Arc<dyn QueueStore>,
    /// Number of entries that calls of this process wait for.
    pub own_count: AtomicUsize,
    /// Notified when an entry is answered through this process.
    pub changed: Notify,
    pub(super) is_ending: AtomicBool,
    host: OnceLock<QueueHost>,
}

impl ReviewQueue {
    /// Creates a queue in `store` whose entries expire after `limit`.
    #[must_use]
    pub fn new(store: Arc<dyn QueueStore>, limit: Duration) -> Self {
        let shared = QueueShared {
            store,
            own_count: AtomicUsize::new(0),
            changed: Notify::new(),
            is_ending: AtomicBool::new(false),
            host: OnceLock::new(),
        };
        Self(Arc::new(shared), limit)
    }

    /// Returns the pending entries of all processes, the oldest first.
    pub async fn list(&self) -> Result<Vec<QueueEntry>, QueueError> {
        self.with_store(|store| store.list()).await
    }

    /// Returns an entry by its id, in any state.
    pub async fn find(&self, id: &str) -> Result<QueueEntry, QueueError> {
        let id = id.to_owned();
        self.with_store(move |store| store.find(&id)).await
    }

    /// Answers an entry. Only the first answer counts.
    ///
    /// `digest` is that of the entry as the person saw it, and `by` records where it was answered.
    /// Fails if the entry is no longer pending, or if the digest or the answer does not fit it.
    pub async fn answer(
        &self,
        id: &str,
        digest: &str,
        given: UserDecision,
        by: &str,
    ) -> Result<(), QueueError> {
        let [id, digest, by] = [id, digest, by].map(str::to_owned);
        let answering = self.with_store(move |store| {
            let entry = store.find(&id)?;
            // The store rejects another digest with its own error.
            if entry.digest == digest {
                check_decision(&given, &entry.asked)?;
            }
            store.answer(&QueueAnswer { id: &id, digest: &digest, decision: &given, by: &by })
        });
        answering.await?;
        self.0.changed.notify_waiters();
        Ok(())
    }

    /// Watches the pending entries of all processes.
    pub fn watch(&self) -> QueueWatch {
        QueueWatch { queue: self.clone(), seen: None }
    }

    /// Returns whether a call of this process waits for an answer.
    pub fn is_needed(&self) -> bool {
        self.0.own_count.load(Ordering::Acquire) > 0
    }

    /// Marks this process as shutting down: entries that can be asked again stay in the queue.
    pub fn begin_shutdown(&self) {
        self.0.is_ending.store(true, Ordering::Release);
    }

    /// Returns how long a person may take to answer.
    pub const fn limit(&self) -> Duration {
        self.1
    }

    /// Returns a handle on the same queue with another limit, if one is given.
    pub fn with_limit(&self, limit: Option<Duration>) -> Self {
        Self(Arc::clone(&self.0), limit.unwrap_or(self.1))
    }

    /// Connects the queue to a host: its events report new and ended entries, and its table of
    /// calls in flight provides askers and details.
    pub(crate) fn attach(&self, events: Events, calls: InFlight) {
        // Only the first host counts: its calls are the ones that wait in this queue.
        _ = self.0.host.set(QueueHost { events, calls });
    }

    pub(crate) fn asker(&self, call: u64) -> Option<Arc<dyn Asker>> {
        self.0.host.get()?.calls.asker(call)
    }

    pub(crate) fn call_details(&self, call: u64) -> CallDetails {
        self.0.host.get().map(|host| host.calls.details(call)).unwrap_or_default()
    }

    /// Adds an entry; it is withdrawn if it is dropped before it has ended.
    pub(super) async fn post(
        &self,
        asked: QueuedQuestion,
        limit: Duration,
    ) -> Result<PendingEntry, QueueError> {
        let counted = PendingEntry::count(self);
        // The guard is created on the blocking thread: if this future is dropped meanwhile, the
        // guard still withdraws the entry.
        self.with_store(move |store| Ok(counted.into_pending(store.post(&asked, limit)?))).await
    }

    /// Like [`Self::post`], for a question that no call waits for.
    pub(super) async fn post_optional(
        &self,
        asked: QueuedQuestion,
        limit: Duration,
    ) -> Result<PendingEntry, QueueError> {
        let counted = PendingEntry::without_count(self);
        self.with_store(move |store| Ok(counted.into_pending(store.post(&asked, limit)?))).await
    }

    pub(crate) fn emit(&self, what: impl FnOnce() -> EventKind) {
        if let Some(host) = self.0.host.get() {
            host.events.emit(what);
        }
    }

    /// Runs `work` on a blocking thread, since the store reads and writes files.
    pub(super) async fn with_store<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn QueueStore) -> Result<T, QueueError> + Send + 'static,
    ) -> Result<T, QueueError> {
        let store = Arc::clone(&self.0.store);
        let working = tokio::task::spawn_blocking(move || work(store.as_ref()));
        working.await.unwrap_or_else(|error| {
            Err(QueueError::Store { reason: error.to_string(), hint: "try again" })
        })
    }
}

/// Watches the pending entries for changes.
#[derive(Debug)]
pub struct QueueWatch {
    queue: ReviewQueue,
    seen: Option<Vec<QueueEntry>>,
}

impl QueueWatch {
    /// Returns the pending entries: immediately the first time, then whenever they change.
    pub async fn next_change(&mut self) -> Result<Vec<QueueEntry>, QueueError> {
        loop {
            let now = self.queue.list().await?;
            if self.seen.as_ref() != Some(&now) {
                self.seen = Some(now.clone());
                return Ok(now);
            }
            sleep(POLL_INTERVAL).await;
        }
    }
}

impl std::fmt::Debug for ReviewQueue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Waiting").field("limit", &self.1).finish_non_exhaustive()
    }
}
