//! Calls whose clients subscribed to log messages of servers, and the identities of the callers.

use std::sync::Arc;

use parking_lot::Mutex;
use switchboard_access::LOCAL_IDENTITY;
use tokio::sync::watch;

use crate::client::McpClient;

/// The number of a call, once the host has assigned one.
type CallNumber = watch::Receiver<Option<u64>>;

type CallOwners = Arc<Mutex<Vec<(CallNumber, Arc<str>)>>>;

#[derive(Default)]
pub(crate) struct LogSubscribers {
    calls: CallOwners,
}

/// The subscription of a call, until this is dropped.
pub(crate) struct LogSubscription {
    number: CallNumber,
    calls: CallOwners,
}

impl Drop for LogSubscription {
    fn drop(&mut self) {
        self.calls.lock().retain(|(number, _)| !number.same_channel(&self.number));
    }
}

impl LogSubscribers {
    /// Subscribes a call of a client to log messages.
    ///
    /// The returned sender takes the number of the call once it is known.
    pub(crate) fn add(&self, client: &McpClient) -> (watch::Sender<Option<u64>>, LogSubscription) {
        let (opened, number) = watch::channel(None);
        self.calls.lock().push((number.clone(), Arc::clone(&client.identity)));
        (opened, LogSubscription { number, calls: Arc::clone(&self.calls) })
    }

    /// Returns whether a client may see a log message that was sent during these calls. An
    /// authenticated client sees it only if all of the calls are its own.
    pub(crate) fn is_visible_to(&self, client: &McpClient, during: &[u64]) -> bool {
        if *client.identity == *LOCAL_IDENTITY || during.is_empty() {
            return true;
        }
        // A message does not say which of the calls at its server it belongs to, so one call of
        // another caller is enough to withhold it.
        let calls = self.calls.lock();
        let is_own = |call: &u64| {
            calls.iter().any(|(number, identity)| {
                *number.borrow() == Some(*call) && *identity == client.identity
            })
        };
        during.iter().all(is_own)
    }
}
