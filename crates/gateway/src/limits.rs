//! Limits per caller: requests over a limit are rejected at once instead of queued.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use foldhash::HashMap;
use parking_lot::Mutex;
use switchboard_wire::RpcError;
use tokio_util::sync::CancellationToken;

/// Limits of one caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallerLimits {
    /// Maximum requests in flight.
    pub in_flight: usize,
    /// Maximum requests per second, which is also the burst size; unlimited if `None`.
    pub per_second: Option<u32>,
    /// Maximum sessions of the legacy era.
    pub sessions: usize,
    /// Maximum parked calls, and maximum tasks.
    pub waiting: usize,
}

impl Default for CallerLimits {
    fn default() -> Self {
        Self { in_flight: 256, per_second: None, sessions: 1_000, waiting: 256 }
    }
}

impl CallerLimits {
    /// Returns the limits for all local programs together: without tokens they share an identity.
    #[must_use]
    pub fn for_local_machine() -> Self {
        Self { in_flight: 4_096, per_second: None, sessions: 10_000, waiting: 1_000 }
    }
}

/// The reason why a request is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AdmissionError {
    InFlight { limit: usize },
    TooFast { wait: Duration },
    ShuttingDown,
}

/// The JSON-RPC error code for temporary refusals.
pub(crate) const BUSY_CODE: i64 = -32_000;

impl AdmissionError {
    pub(crate) fn into_rpc_error(self) -> RpcError {
        let why = match self {
            Self::InFlight { limit } => {
                format!("too many requests in flight: the limit is {limit} per caller")
            }
            Self::TooFast { .. } => "rate limit exceeded".to_owned(),
            Self::ShuttingDown => "the gateway is shutting down".to_owned(),
        };
        RpcError::new(BUSY_CODE, why)
    }
}

/// The load of all recently active callers.
pub(crate) struct CallerLimiter {
    limits: CallerLimits,
    by_identity: Mutex<HashMap<Arc<str>, Arc<CallerLoad>>>,
}

struct CallerLoad {
    in_flight: AtomicUsize,
    bucket: Mutex<TokenBucket>,
    /// Cancels the caller's requests in flight.
    revoked: CancellationToken,
}

/// A token bucket that refills at the caller's rate.
struct TokenBucket {
    tokens: f64,
    refilled_at: Instant,
}

/// An admitted request, counted until this is dropped.
pub(crate) struct RequestPermit {
    load: Arc<CallerLoad>,
}

impl RequestPermit {
    /// Returns the token that is cancelled when the caller's access is revoked.
    pub(crate) fn revoked_token(&self) -> &CancellationToken {
        &self.load.revoked
    }
}

impl Drop for RequestPermit {
    fn drop(&mut self) {
        self.load.in_flight.fetch_sub(1, Ordering::AcqRel);
    }
}

impl CallerLimiter {
    pub(crate) fn new(limits: CallerLimits) -> Self {
        Self { limits, by_identity: Mutex::default() }
    }

    pub(crate) fn admit(&self, identity: &Arc<str>) -> Result<RequestPermit, AdmissionError> {
        let using = self.load(identity);
        let limit = self.limits.in_flight;
        // Counted before it is checked: two requests at once cannot both take the last place.
        if using.in_flight.fetch_add(1, Ordering::AcqRel) >= limit {
            using.in_flight.fetch_sub(1, Ordering::AcqRel);
            return Err(AdmissionError::InFlight { limit });
        }
        // From here on, dropping the permit releases the place, also on the error below.
        let pass = RequestPermit { load: using };
        if let Some(rate) = self.limits.per_second {
            let taken = pass.load.bucket.lock().take(f64::from(rate), Instant::now());
            taken.map_err(|wait| AdmissionError::TooFast { wait })?;
        }
        Ok(pass)
    }

    fn load(&self, identity: &Arc<str>) -> Arc<CallerLoad> {
        let mut callers = self.by_identity.lock();
        if let Some(using) = callers.get(identity) {
            return Arc::clone(using);
        }
        let left = self.limits.per_second.map_or(0.0, f64::from);
        let bucket = Mutex::new(TokenBucket { tokens: left, refilled_at: Instant::now() });
        let over = CancellationToken::new();
        let using = Arc::new(CallerLoad { in_flight: AtomicUsize::new(0), bucket, revoked: over });
        callers.insert(Arc::clone(identity), Arc::clone(&using));
        using
    }

    pub(crate) fn active_callers(&self) -> Vec<Arc<str>> {
        let callers = self.by_identity.lock();
        let busy = callers.iter().filter(|(_, using)| using.in_flight.load(Ordering::Acquire) > 0);
        busy.map(|(identity, _)| Arc::clone(identity)).collect()
    }

    /// Cancels a caller's requests in flight.
    pub(crate) fn revoke(&self, identity: &str) {
        // Removed, so that a caller that regains access does not start with a cancelled token.
        if let Some(using) = self.by_identity.lock().remove(identity) {
            using.revoked.cancel();
        }
    }

    pub(crate) fn sweep(&self) {
        // After a second every bucket is full, which is the state of a new one.
        self.by_identity.lock().retain(|_, using| {
            using.in_flight.load(Ordering::Acquire) > 0
                || using.bucket.lock().refilled_at.elapsed() < Duration::from_secs(1)
        });
    }
}

impl TokenBucket {
    /// Takes a token, or returns how long it takes until there is one.
    fn take(&mut self, rate: f64, now: Instant) -> Result<(), Duration> {
        let passed = now.saturating_duration_since(self.refilled_at).as_secs_f64();
        self.tokens = (self.tokens + passed * rate).min(rate);
        self.refilled_at = now;
        if self.tokens >= 1.0 {
            self.tokens -= 1.0;
            return Ok(());
        }
        Err(Duration::from_secs_f64(((1.0 - self.tokens) / rate).max(0.0)))
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{AdmissionError, CallerLimiter, CallerLimits, TokenBucket};

    #[test]
    fn a_caller_has_so_many_at_once_and_others_have_their_own() {
        let callers = CallerLimiter::new(CallerLimits { in_flight: 2, ..CallerLimits::default() });
        let a = "a".into();
        let b = "b".into();
        let first = callers.admit(&a).unwrap();
        let _second = callers.admit(&a).unwrap();
        assert_eq!(callers.admit(&a).err(), Some(AdmissionError::InFlight { limit: 2 }));
        let _other = callers.admit(&b).unwrap();
        drop(first);
        let _third = callers.admit(&a).unwrap();
        assert_eq!(callers.admit(&a).err(), Some(AdmissionError::InFlight { limit: 2 }));
    }

    #[test]
    fn a_refused_request_leaves_nothing_behind() {
        let limits = CallerLimits { in_flight: 1, per_second: Some(1), ..CallerLimits::default() };
        let callers = CallerLimiter::new(limits);
        let a = "a".into();
        drop(callers.admit(&a).unwrap());
        for _ in 0..3 {
            assert!(matches!(callers.admit(&a).err(), Some(AdmissionError::TooFast { .. })));
        }
        assert_eq!(callers.active_callers().len(), 0);
    }

    #[test]
    fn a_rate_allows_a_second_at_once_and_then_one_after_the_other() {
        let start = Instant::now();
        let mut bucket = TokenBucket { tokens: 2.0, refilled_at: start };
        let at = |milliseconds| start + Duration::from_millis(milliseconds);
        let half = Err(Duration::from_millis(500));
        let taken =
            [0, 0, 0, 500, 500, 10_000, 10_000, 10_000].map(|time| bucket.take(2.0, at(time)));
        assert_eq!(taken, [Ok(()), Ok(()), half, Ok(()), half, Ok(()), Ok(()), half]);
    }

    #[test]
    fn what_a_dismissed_caller_has_under_way_is_ended() {
        let callers = CallerLimiter::new(CallerLimits::default());
        let a = "a".into();
        let b = "b".into();
        let of_a = callers.admit(&a).unwrap();
        let of_b = callers.admit(&b).unwrap();
        callers.revoke("a");
        assert_eq!(
            (of_a.revoked_token().is_cancelled(), of_b.revoked_token().is_cancelled()),
            (true, false)
        );
        assert_eq!(callers.active_callers(), [b]);
    }
}
