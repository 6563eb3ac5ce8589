//! How much one caller may do at once; who wants more is told so without waiting.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use foldhash::HashMap;
use switchboard_wire::RpcError;
use tokio_util::sync::CancellationToken;

use crate::session::locked;

/// What one caller may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallerLimits {
    /// Requests that are worked on at the same time.
    pub in_flight: usize,
    /// Requests per second, with as many at once; without it, as many as come.
    pub per_second: Option<u32>,
    /// Sessions of the legacy era.
    pub sessions: usize,
    /// Calls that wait for their client to come back with an answer.
    pub waiting: usize,
}

impl Default for CallerLimits {
    fn default() -> Self {
        Self { in_flight: 256, per_second: None, sessions: 1_000, waiting: 256 }
    }
}

impl CallerLimits {
    /// For all programs of one machine together, while nobody has to say who they are.
    #[must_use]
    pub fn of_machine() -> Self {
        Self { in_flight: 4_096, per_second: None, sessions: 10_000, waiting: 1_000 }
    }
}

/// Why a request is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Full {
    /// The caller has as many under way as it may.
    InFlight { limit: usize },
    /// The caller comes too fast; after this time one more is taken.
    TooFast { wait: Duration },
    /// We are about to end.
    Ending,
}

/// The code of errors that say: not now.
pub(crate) const BUSY: i64 = -32_000;

impl Full {
    /// The same as a client is told.
    pub(crate) fn error(self) -> RpcError {
        let why = match self {
            Self::InFlight { limit } => {
                format!("this caller has {limit} requests under way, which is the limit")
            }
            Self::TooFast { .. } => "this caller's requests come too fast".to_owned(),
            Self::Ending => "the gateway is about to end and takes no new requests".to_owned(),
        };
        RpcError::new(BUSY, why)
    }
}

/// Everybody who asked for something lately.
pub(crate) struct Callers {
    limits: CallerLimits,
    by_identity: Mutex<HashMap<Arc<str>, Arc<Use>>>,
}

/// What one caller uses.
struct Use {
    in_flight: AtomicUsize,
    bucket: Mutex<Bucket>,
    /// Ends what the caller has under way.
    over: CancellationToken,
}

/// Fills at the caller's rate; every request takes one out.
struct Bucket {
    left: f64,
    filled: Instant,
}

/// A request of a caller, counted as long as this is there.
pub(crate) struct Pass {
    using: Arc<Use>,
}

impl Pass {
    /// Is cancelled when the caller may no longer call.
    pub(crate) fn over(&self) -> &CancellationToken {
        &self.using.over
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        self.using.in_flight.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Callers {
    pub(crate) fn new(limits: CallerLimits) -> Self {
        Self { limits, by_identity: Mutex::default() }
    }

    /// Counts a request, if the caller may have one more.
    pub(crate) fn enter(&self, identity: &Arc<str>) -> Result<Pass, Full> {
        let using = self.using(identity);
        let limit = self.limits.in_flight;
        if using.in_flight.fetch_add(1, Ordering::AcqRel) >= limit {
            using.in_flight.fetch_sub(1, Ordering::AcqRel);
            return Err(Full::InFlight { limit });
        }
        let pass = Pass { using };
        if let Some(rate) = self.limits.per_second {
            locked(&pass.using.bucket)
                .take(f64::from(rate), Instant::now())
                .map_err(|wait| Full::TooFast { wait })?;
        }
        Ok(pass)
    }

    fn using(&self, identity: &Arc<str>) -> Arc<Use> {
        let mut callers = locked(&self.by_identity);
        if let Some(using) = callers.get(identity) {
            return Arc::clone(using);
        }
        let left = self.limits.per_second.map_or(0.0, f64::from);
        let bucket = Mutex::new(Bucket { left, filled: Instant::now() });
        let over = CancellationToken::new();
        let using = Arc::new(Use { in_flight: AtomicUsize::new(0), bucket, over });
        callers.insert(Arc::clone(identity), Arc::clone(&using));
        using
    }

    /// Everybody who has something under way.
    pub(crate) fn busy(&self) -> Vec<Arc<str>> {
        let callers = locked(&self.by_identity);
        let busy = callers.iter().filter(|(_, using)| using.in_flight.load(Ordering::Acquire) > 0);
        busy.map(|(identity, _)| Arc::clone(identity)).collect()
    }

    /// Ends what a caller has under way.
    pub(crate) fn dismiss(&self, identity: &str) {
        if let Some(using) = locked(&self.by_identity).remove(identity) {
            using.over.cancel();
        }
    }

    /// Forgets who has asked for nothing lately.
    pub(crate) fn sweep(&self) {
        // After a second every bucket is full again, as a new one is.
        locked(&self.by_identity).retain(|_, using| {
            using.in_flight.load(Ordering::Acquire) > 0
                || locked(&using.bucket).filled.elapsed() < Duration::from_secs(1)
        });
    }
}

impl Bucket {
    /// Takes one out, or says how long it takes until there is one.
    fn take(&mut self, rate: f64, now: Instant) -> Result<(), Duration> {
        let passed = now.saturating_duration_since(self.filled).as_secs_f64();
        self.left = (self.left + passed * rate).min(rate);
        self.filled = now;
        if self.left >= 1.0 {
            self.left -= 1.0;
            return Ok(());
        }
        Err(Duration::from_secs_f64(((1.0 - self.left) / rate).max(0.0)))
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{Bucket, CallerLimits, Callers, Full};

    #[test]
    fn a_caller_has_so_many_at_once_and_others_have_their_own() {
        let callers = Callers::new(CallerLimits { in_flight: 2, ..CallerLimits::default() });
        let (a, b) = ("a".into(), "b".into());
        let first = callers.enter(&a).unwrap();
        let _second = callers.enter(&a).unwrap();
        assert_eq!(callers.enter(&a).err(), Some(Full::InFlight { limit: 2 }));
        let _other = callers.enter(&b).unwrap();
        drop(first);
        let _third = callers.enter(&a).unwrap();
        assert_eq!(callers.enter(&a).err(), Some(Full::InFlight { limit: 2 }));
    }

    #[test]
    fn a_refused_request_leaves_nothing_behind() {
        let limits = CallerLimits { in_flight: 1, per_second: Some(1), ..CallerLimits::default() };
        let callers = Callers::new(limits);
        let a = "a".into();
        drop(callers.enter(&a).unwrap());
        for _ in 0..3 {
            assert!(matches!(callers.enter(&a).err(), Some(Full::TooFast { .. })));
        }
        assert_eq!(callers.busy().len(), 0);
    }

    #[test]
    fn a_rate_allows_a_second_at_once_and_then_one_after_the_other() {
        let start = Instant::now();
        let mut bucket = Bucket { left: 2.0, filled: start };
        let at = |milliseconds| start + Duration::from_millis(milliseconds);
        let half = Err(Duration::from_millis(500));
        let taken =
            [0, 0, 0, 500, 500, 10_000, 10_000, 10_000].map(|time| bucket.take(2.0, at(time)));
        assert_eq!(taken, [Ok(()), Ok(()), half, Ok(()), half, Ok(()), Ok(()), half]);
    }

    #[test]
    fn what_a_dismissed_caller_has_under_way_is_ended() {
        let callers = Callers::new(CallerLimits::default());
        let (a, b) = ("a".into(), "b".into());
        let (of_a, of_b) = (callers.enter(&a).unwrap(), callers.enter(&b).unwrap());
        callers.dismiss("a");
        assert_eq!((of_a.over().is_cancelled(), of_b.over().is_cancelled()), (true, false));
        assert_eq!(callers.busy(), [b]);
    }
}
