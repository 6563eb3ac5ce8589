//! Everything that waits for a person, in one queue: listed, watched and answered from any face.

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

/// How often is looked for what other processes did.
pub(super) const POLL_INTERVAL: Duration = Duration::from_millis(150);

/// How long a person may take, unless the settings say otherwise.
pub const DEFAULT_REVIEW_LIMIT: Duration = Duration::from_secs(5 * 60);

/// The host whose calls wait in a queue.
struct QueueHost {
    events: Events,
    calls: InFlight,
}

/// Everything that waits for a person. Clones are handles on the same queue.
#[derive(Clone)]
pub struct ReviewQueue(pub(super) Arc<QueueShared>, Duration);

pub(super) struct QueueShared {
    pub store: Arc<dyn QueueStore>,
    /// How much of it is ours.
    pub own_count: AtomicUsize,
    /// Tells that something of this process was answered.
    pub changed: Notify,
    /// Whether this process is about to end.
    pub(super) is_ending: AtomicBool,
    host: OnceLock<QueueHost>,
}

impl ReviewQueue {
    /// A queue that is kept in `store`, in which a person may take as long as `limit`.
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

    /// What waits, the oldest first, of all processes.
    ///
    /// # Errors
    /// When it cannot be read.
    pub async fn list(&self) -> Result<Vec<QueueEntry>, QueueError> {
        self.with_store(|store| store.list()).await
    }

    /// The entry of that name, whatever its state.
    ///
    /// # Errors
    /// When there is none.
    pub async fn find(&self, id: &str) -> Result<QueueEntry, QueueError> {
        let id = id.to_owned();
        self.with_store(move |store| store.find(&id)).await
    }

    /// Answers an entry. The first answer counts, whoever gives it.
    ///
    /// `digest` is that of what the person saw, and `by` says where they saw it.
    ///
    /// # Errors
    /// When it does not wait any more, the digest is that of something else, or it is no answer to
    /// what was asked.
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
            if entry.digest == digest {
                check_decision(&given, &entry.asked)?;
            }
            store.answer(&QueueAnswer { id: &id, digest: &digest, decision: &given, by: &by })
        });
        answering.await?;
        self.0.changed.notify_waiters();
        Ok(())
    }

    /// Watches what waits, from here on.
    #[must_use]
    pub fn watch(&self) -> QueueWatch {
        QueueWatch { queue: self.clone(), seen: None }
    }

    /// Whether this process waits for a person.
    #[must_use]
    pub fn is_needed(&self) -> bool {
        self.0.own_count.load(Ordering::Acquire) > 0
    }

    /// Says that this process is about to end: what may be asked again goes on waiting.
    pub fn begin_shutdown(&self) {
        self.0.is_ending.store(true, Ordering::Release);
    }

    /// How long a person may take.
    #[must_use]
    pub const fn limit(&self) -> Duration {
        self.1
    }

    /// The same queue, in which a person may take so long, if there is another limit.
    pub fn with_limit(&self, limit: Option<Duration>) -> Self {
        Self(Arc::clone(&self.0), limit.unwrap_or(self.1))
    }

    /// Emits events for what begins and ends to wait, and finds calls in the table of the host.
    pub(crate) fn attach(&self, events: Events, calls: InFlight) {
        // Only the first host counts: its calls are the ones that wait in this queue.
        _ = self.0.host.set(QueueHost { events, calls });
    }

    /// Returns the asker that is registered for a call.
    pub(crate) fn asker(&self, call: u64) -> Option<Arc<dyn Asker>> {
        self.0.host.get()?.calls.asker(call)
    }

    /// Returns how a call is shown to the person who is asked.
    pub(crate) fn call_details(&self, call: u64) -> CallDetails {
        self.0.host.get().map(|host| host.calls.details(call)).unwrap_or_default()
    }

    /// Adds an entry; it is withdrawn when it is dropped before it has ended.
    pub(super) async fn post(
        &self,
        asked: QueuedQuestion,
        limit: Duration,
    ) -> Result<PendingEntry, QueueError> {
        let counted = PendingEntry::count(self);
        // The guard is made where the entry is: who gives up meanwhile takes it back all the same.
        self.with_store(move |store| Ok(counted.into_pending(store.post(&asked, limit)?))).await
    }

    /// The same for something that no call waits for.
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

    /// Does the work on a thread that may wait for the disk.
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

/// Tells of every change of what waits.
#[derive(Debug)]
pub struct QueueWatch {
    queue: ReviewQueue,
    seen: Option<Vec<QueueEntry>>,
}

impl QueueWatch {
    /// What waits: at once the first time, and then whenever it is something else.
    ///
    /// # Errors
    /// When it cannot be read.
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
