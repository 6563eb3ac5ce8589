//! How much one visitor may have under way at once, and who may no longer be here.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

/// Everybody who has something under way.
#[derive(Default)]
pub(crate) struct Callers(Mutex<HashMap<Arc<str>, Use>>);

#[derive(Default)]
struct Use {
    count: usize,
    over: CancellationToken,
}

/// Something that a visitor has under way, until it is dropped.
pub(crate) struct Pass {
    identity: Arc<str>,
    over: CancellationToken,
    callers: Arc<Callers>,
}

impl Callers {
    /// Counts one more, if there may be one more.
    pub(crate) fn enter(self: &Arc<Self>, identity: &Arc<str>, limit: usize) -> Option<Pass> {
        let mut all = self.all();
        let using = all.entry(Arc::clone(identity)).or_default();
        if using.count >= limit {
            return None;
        }
        using.count += 1;
        let over = using.over.clone();
        Some(Pass { identity: Arc::clone(identity), over, callers: Arc::clone(self) })
    }

    /// Ends what those have under way who may no longer be here.
    pub(crate) fn dismiss(&self, holds: impl Fn(&str) -> bool) {
        for (_, using) in self.all().iter().filter(|(identity, _)| !holds(identity)) {
            using.over.cancel();
        }
    }

    fn all(&self) -> MutexGuard<'_, HashMap<Arc<str>, Use>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pass {
    /// Is cancelled when the visitor may no longer be here.
    pub(crate) const fn over(&self) -> &CancellationToken {
        &self.over
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        let mut all = self.callers.all();
        if let Some(using) = all.get_mut(&self.identity) {
            using.count -= 1;
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
        let callers = Arc::new(Callers::default());
        let (a, b) = ("a".into(), "b".into());
        let first = callers.enter(&a, 1);
        assert_eq!([callers.enter(&a, 1).is_some(), callers.enter(&b, 1).is_some()], [false, true]);
        drop(first);
        assert!(callers.enter(&a, 1).is_some());
        assert_eq!(callers.all().len(), 0, "nobody is remembered who has nothing under way");
    }

    #[test]
    fn what_somebody_has_under_way_ends_with_their_token() {
        let callers = Arc::new(Callers::default());
        let passes = ["a", "b"].map(|name| callers.enter(&name.into(), 9).unwrap());
        callers.dismiss(|identity| identity == "b");
        assert_eq!(passes.map(|pass| pass.over().is_cancelled()), [true, false]);
    }
}
