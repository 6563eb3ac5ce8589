//! Who listens to changes at this moment, so that it can be ended.

use std::sync::{Arc, Mutex, Weak};

use tokio_util::sync::CancellationToken;

use crate::session::locked;

/// Everybody who listens.
#[derive(Default)]
pub(crate) struct Listeners {
    open: Mutex<Vec<Weak<Listener>>>,
}

/// One who listens, as long as this is there.
pub(crate) struct Listener {
    identity: Arc<str>,
    /// Is cancelled when there is no more to listen to.
    pub(crate) over: CancellationToken,
}

impl Listeners {
    /// Notes that a caller listens.
    pub(crate) fn add(&self, identity: &Arc<str>) -> Arc<Listener> {
        let over = CancellationToken::new();
        let listener = Arc::new(Listener { identity: Arc::clone(identity), over });
        let mut open = locked(&self.open);
        open.retain(|one| one.strong_count() > 0);
        open.push(Arc::downgrade(&listener));
        listener
    }

    /// Ends those of some callers.
    pub(crate) fn hang_up(&self, of: impl Fn(&str) -> bool) {
        for listener in locked(&self.open).iter().filter_map(Weak::upgrade) {
            if of(&listener.identity) {
                listener.over.cancel();
            }
        }
    }
}
