//! Who listens to changes at this moment, so that it can be ended.

use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

/// Everybody who listens.
#[derive(Default)]
pub(crate) struct NoticeListeners {
    open: Mutex<Vec<Weak<NoticeListener>>>,
}

/// One who listens, as long as this is there.
pub(crate) struct NoticeListener {
    identity: Arc<str>,
    /// Is cancelled when there is no more to listen to.
    pub(crate) over: CancellationToken,
}

impl NoticeListeners {
    /// Notes that a caller listens.
    pub(crate) fn add(&self, identity: &Arc<str>) -> Arc<NoticeListener> {
        let over = CancellationToken::new();
        let listener = Arc::new(NoticeListener { identity: Arc::clone(identity), over });
        let mut open = self.open.lock();
        open.retain(|one| one.strong_count() > 0);
        open.push(Arc::downgrade(&listener));
        listener
    }

    /// Ends those of some callers.
    pub(crate) fn end_streams(&self, of: impl Fn(&str) -> bool) {
        for listener in self.open.lock().iter().filter_map(Weak::upgrade) {
            if of(&listener.identity) {
                listener.over.cancel();
            }
        }
    }
}
