//! How one instance is doing: calls on it, failures in a row, and whether it rests.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::time::Instant;

use parking_lot::Mutex;
use tokio::sync::{Notify, oneshot};

/// Failures in a row after which calls fail at once, until a probe succeeds.
const BREAKER_THRESHOLD: u32 = 3;

/// Retries are at most a fifth of the calls, with this many to start from.
const RETRY_BUDGET: (u32, u32) = (5, 10);

/// The health of one connection.
#[derive(Debug, Default)]
pub struct Health {
    in_flight: AtomicUsize,
    calls: AtomicU32,
    retries: AtomicU32,
    /// Whether there is anything to clear; looked at without the lock after every good answer.
    has_failures: AtomicBool,
    breaker: Mutex<BreakerState>,
    wants_probe: Notify,
    /// Who waits until everything that the server has sent is taken in.
    catch_up_waiters: Mutex<Vec<oneshot::Sender<()>>>,
    wants_catching_up: Notify,
    run: Mutex<Option<ServerRun>>,
}

/// One run of a server: from its start until it ends or is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerRun {
    /// The process that was started for it, which has the server below it; none of a remote one.
    pub process: Option<u32>,
    /// Since when it is there.
    pub since: Instant,
}

#[derive(Debug, Default)]
struct BreakerState {
    failures: u32,
    open_reason: Option<String>,
}

/// A call that is under way on an instance.
#[derive(Debug)]
pub struct CallGuard(Arc<Health>);

impl Health {
    /// Calls that are under way.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.in_flight.load(Ordering::Relaxed)
    }

    /// Counts a call until the result is dropped.
    #[must_use]
    pub fn enter(self: &Arc<Self>) -> CallGuard {
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        self.calls.fetch_add(1, Ordering::Relaxed);
        CallGuard(Arc::clone(self))
    }

    /// The run that goes on, if the server is there.
    #[must_use]
    pub fn run(&self) -> Option<ServerRun> {
        *self.run.lock()
    }

    /// Notes that a run begins, or that it is over.
    pub fn set_run(&self, run: Option<ServerRun>) {
        *self.run.lock() = run;
    }

    /// Why calls fail at once at the moment.
    #[must_use]
    pub fn breaker_reason(&self) -> Option<String> {
        if !self.has_failures.load(Ordering::Acquire) {
            return None;
        }
        self.breaker.lock().open_reason.clone()
    }

    /// Whether the budget allows another attempt; counts it if so.
    pub fn may_retry(&self) -> bool {
        let allowed = RETRY_BUDGET.1 + self.calls.load(Ordering::Relaxed) / RETRY_BUDGET.0;
        let used = self.retries.fetch_add(1, Ordering::Relaxed);
        if used >= allowed {
            self.retries.fetch_sub(1, Ordering::Relaxed);
        }
        used < allowed
    }

    /// The server answered, or a new connection begins without the failures of the one before.
    pub fn record_success(&self) {
        if self.has_failures.load(Ordering::Acquire) {
            let mut illness = self.breaker.lock();
            *illness = BreakerState::default();
            self.has_failures.store(false, Ordering::Release);
        }
    }

    /// The server did not answer, or could not.
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

    /// Waits until everything that the server has sent up to this moment is taken in; for ever, if
    /// nobody takes anything in any more.
    pub async fn caught_up(&self) {
        let (told, caught_up) = oneshot::channel();
        self.catch_up_waiters.lock().push(told);
        self.wants_catching_up.notify_one();
        if caught_up.await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Waits until somebody wants to know that everything is taken in. Whoever waits for this takes
    /// in first what has come.
    pub async fn catch_up_requested(&self) {
        self.wants_catching_up.notified().await;
    }

    /// Tells everybody who waits that there is nothing left to take in.
    pub fn notify_caught_up(&self) {
        let behind = std::mem::take(&mut *self.catch_up_waiters.lock());
        for told in behind {
            // A waiter that timed out has dropped its receiver.
            _ = told.send(());
        }
    }

    /// Waits until a probe is due.
    pub async fn probe_requested(&self) {
        self.wants_probe.notified().await;
    }
}

impl Drop for CallGuard {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}
