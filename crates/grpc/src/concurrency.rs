//! Concurrency limits per caller, and revocation of access.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

/// The requests in flight of each caller.
#[derive(Default)]
pub(crate) struct ConcurrencyLimits(Mutex<HashMap<Arc<str>, CallerUsage>>);

#[derive(Default)]
struct CallerUsage {
    count: usize,
    over: CancellationToken,
}

/// A request in flight of a caller, counted until this is dropped.
pub(crate) struct ConcurrencySlot {
    identity: Arc<str>,
    over: CancellationToken,
    callers: Arc<ConcurrencyLimits>,
}

impl ConcurrencyLimits {
    /// Takes a slot, if the caller is below its limit.
    pub(crate) fn enter(
        self: &Arc<Self>,
        identity: &Arc<str>,
        limit: usize,
    ) -> Option<ConcurrencySlot> {
        // One identity may have many connections, so the count is kept per identity.
        let mut all = self.0.lock();
        let using = all.entry(Arc::clone(identity)).or_default();
        if using.count >= limit {
            return None;
        }
        using.count += 1;
        let over = using.over.clone();
        Some(ConcurrencySlot { identity: Arc::clone(identity), over, callers: Arc::clone(self) })
    }

    /// Cancels the requests of callers whose access was revoked.
    pub(crate) fn cancel_revoked(&self, holds: impl Fn(&str) -> bool) {
        for (_, using) in self.0.lock().iter().filter(|(identity, _)| !holds(identity)) {
            using.over.cancel();
        }
    }
}

impl ConcurrencySlot {
    /// Returns the token that is cancelled when the caller's access is revoked.
    pub(crate) const fn revoked(&self) -> &CancellationToken {
        &self.over
    }
}

impl Drop for ConcurrencySlot {
    fn drop(&mut self) {
        let mut all = self.callers.0.lock();
        if let Some(using) = all.get_mut(&self.identity) {
            using.count -= 1;
            // A cancelled token goes too: access that is granted again starts with a fresh one.
            if using.count == 0 {
                all.remove(&self.identity);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_visitor_has_so_much_under_way_and_others_have_their_own() {
        let callers = Arc::new(ConcurrencyLimits::default());
        let a = "a".into();
        let b = "b".into();
        let first = callers.enter(&a, 1);
        assert_eq!([callers.enter(&a, 1).is_some(), callers.enter(&b, 1).is_some()], [false, true]);
        drop(first);
        assert!(callers.enter(&a, 1).is_some());
        assert_eq!(callers.0.lock().len(), 0, "nobody is remembered who has nothing under way");
    }

    #[test]
    fn what_somebody_has_under_way_ends_with_their_token() {
        let callers = Arc::new(ConcurrencyLimits::default());
        let passes = ["a", "b"].map(|name| callers.enter(&name.into(), 9).unwrap());
        callers.cancel_revoked(|identity| identity == "b");
        assert_eq!(passes.map(|pass| pass.revoked().is_cancelled()), [true, false]);
    }
}
