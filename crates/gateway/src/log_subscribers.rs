//! Calls whose clients want to hear what servers say, and whose they are.

use std::sync::Arc;

use parking_lot::Mutex;
use switchboard_access::LOCAL_IDENTITY;
use tokio::sync::watch;

use crate::client::McpClient;

/// The number of a call, once it has one.
type CallNumber = watch::Receiver<Option<u64>>;

/// The calls, with who made them.
type CallOwners = Arc<Mutex<Vec<(CallNumber, Arc<str>)>>>;

/// The calls whose messages are wanted at this moment.
#[derive(Default)]
pub(crate) struct LogSubscribers {
    calls: CallOwners,
}

/// A call whose messages are wanted, as long as this is there.
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
    /// Notes that a call of a client wants to hear messages.
    ///
    /// The sender gets the number of the call when it has one.
    pub(crate) fn add(&self, client: &McpClient) -> (watch::Sender<Option<u64>>, LogSubscription) {
        let (opened, number) = watch::channel(None);
        self.calls.lock().push((number.clone(), Arc::clone(&client.identity)));
        (opened, LogSubscription { number, calls: Arc::clone(&self.calls) })
    }

    /// Whether what was said during these calls is nobody's business but a client's: callers who
    /// prove who they are do not hear what servers say about the calls of others.
    pub(crate) fn is_visible_to(&self, client: &McpClient, during: &[u64]) -> bool {
        if *client.identity == *LOCAL_IDENTITY || during.is_empty() {
            return true;
        }
        let calls = self.calls.lock();
        let is_own = |call: &u64| {
            calls.iter().any(|(number, identity)| {
                *number.borrow() == Some(*call) && *identity == client.identity
            })
        };
        during.iter().all(is_own)
    }
}
