//! The health of one instance: calls in flight, consecutive failures, circuit breaker.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::time::Instant;

use parking_lot::Mutex;
use tokio::sync::{Notify, oneshot};

// Consecutive failures that open the breaker. Calls then fail at once until a probe succeeds.
const BREAKER_THRESHOLD: u32 = 3;

// One retry per five calls, plus an initial ten: retries must not multiply the load on a server
// that already fails.
const RETRY_BUDGET: (u32, u32) = (5, 10);

/// The health of one instance of a server.
#[derive(Debug, Default)]
pub struct Health {
    in_flight: AtomicUsize,
    calls: AtomicU32,
    retries: AtomicU32,
    /// Whether `breaker` has failures to clear, so that a success need not take the lock.
    has_failures: AtomicBool,
    breaker: Mutex<BreakerState>,
    wants_probe: Notify,
    catch_up_waiters: Mutex<Vec<oneshot::Sender<()>>>,
    wants_catching_up: Notify,
    run: Mutex<Option<ServerRun>>,
}

/// One run of a server, from its start until it ends or is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerRun {
    /// The process started for it, the server's ancestor; `None` for a remote server.
    pub process: Option<u32>,
    pub since: Instant,
}

#[derive(Debug, Default)]
struct BreakerState {
    failures: u32,
    open_reason: Option<String>,
}

/// A call in flight on an instance; counted until dropped.
#[derive(Debug)]
pub struct CallGuard(Arc<Health>);

impl Health {
    /// Returns the number of calls in flight.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.in_flight.load(Ordering::Relaxed)
    }

    /// Counts a call as in flight until the guard is dropped.
    #[must_use]
    pub fn enter(self: &Arc<Self>) -> CallGuard {
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        self.calls.fetch_add(1, Ordering::Relaxed);
        CallGuard(Arc::clone(self))
    }

    /// Returns the current run, if the server is up.
    #[must_use]
    pub fn run(&self) -> Option<ServerRun> {
        *self.run.lock()
    }

    /// Records the start or the end of a run.
    pub fn set_run(&self, run: Option<ServerRun>) {
        *self.run.lock() = run;
    }

    /// Returns why the breaker is open, if it is.
    #[must_use]
    pub fn breaker_reason(&self) -> Option<String> {
        if !self.has_failures.load(Ordering::Acquire) {
            return None;
        }
        self.breaker.lock().open_reason.clone()
    }

    /// Returns whether the retry budget allows another attempt, and counts it if so.
    pub fn may_retry(&self) -> bool {
        let allowed = RETRY_BUDGET.1 + self.calls.load(Ordering::Relaxed) / RETRY_BUDGET.0;
        let used = self.retries.fetch_add(1, Ordering::Relaxed);
        if used >= allowed {
            // Counted first and returned on refusal, so that concurrent calls cannot overdraw.
            self.retries.fetch_sub(1, Ordering::Relaxed);
        }
        used < allowed
    }

    /// Records an answer of the server, or a new connection, which starts without failures.
    pub fn record_success(&self) {
        if self.has_failures.load(Ordering::Acquire) {
            let mut illness = self.breaker.lock();
            *illness = BreakerState::default();
            self.has_failures.store(false, Ordering::Release);
        }
    }

    /// Records that the server failed to answer.
    pub fn record_failure(&self, why: &str) {
        let mut illness = self.breaker.lock();
        illness.failures += 1;
        self.has_failures.store(true, Ordering::Release);
        let failures = illness.failures;
        if failures >= BREAKER_THRESHOLD {
            illness.open_reason =
                Some(format!("{failures} failures in a row, the last one: {why}"));
            self.wants_probe.notify_one();
        }
    }

    /// Waits until all messages received so far are processed.
    pub async fn caught_up(&self) {
        let (told, caught_up) = oneshot::channel();
        self.catch_up_waiters.lock().push(told);
        self.wants_catching_up.notify_one();
        if caught_up.await.is_err() {
            // The processing task has ended, so nothing will confirm. The caller has a timeout.
            std::future::pending::<()>().await;
        }
    }

    /// Waits for a caller of `caught_up`. Process all received messages before confirming.
    pub async fn catch_up_requested(&self) {
        self.wants_catching_up.notified().await;
    }

    /// Confirms to all waiting callers that no received message is unprocessed.
    pub fn notify_caught_up(&self) {
        let behind = std::mem::take(&mut *self.catch_up_waiters.lock());
        for told in behind {
            // A waiter that timed out has dropped its receiver.
            _ = told.send(());
        }
    }

    /// Waits until the breaker opens and a probe is due.
    pub async fn probe_requested(&self) {
        self.wants_probe.notified().await;
    }
}

impl Drop for CallGuard {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}
