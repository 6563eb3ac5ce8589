//! Calls whose clients want to hear what servers say, and whose they are.

use std::sync::{Arc, Mutex, OnceLock};

use crate::access::LOCAL;
use crate::client::Client;
use crate::session::locked;

/// The number of a call, once it has one.
pub(crate) type Number = Arc<OnceLock<u64>>;

/// The calls, with who made them.
type Calls = Arc<Mutex<Vec<(Number, Arc<str>)>>>;

/// The calls whose messages are wanted at this moment.
#[derive(Default)]
pub(crate) struct WantedMessages {
    calls: Calls,
}

/// A call whose messages are wanted, as long as this is there.
pub(crate) struct Wanting {
    number: Number,
    calls: Calls,
}

impl Drop for Wanting {
    fn drop(&mut self) {
        locked(&self.calls).retain(|(number, _)| !Arc::ptr_eq(number, &self.number));
    }
}

impl WantedMessages {
    /// Notes that a call of a client wants to hear messages.
    pub(crate) fn add(&self, client: &Client) -> (Number, Wanting) {
        let number = Number::default();
        locked(&self.calls).push((Arc::clone(&number), Arc::clone(&client.identity)));
        (Arc::clone(&number), Wanting { number, calls: Arc::clone(&self.calls) })
    }

    /// Whether what was said during these calls is nobody's business but a client's: callers who
    /// prove who they are do not hear what servers say about the calls of others.
    pub(crate) fn are_of(&self, client: &Client, during: &[u64]) -> bool {
        if *client.identity == *LOCAL || during.is_empty() {
            return true;
        }
        let calls = locked(&self.calls);
        let is_own = |call: &u64| {
            calls.iter().any(|(number, identity)| {
                number.get() == Some(call) && *identity == client.identity
            })
        };
        during.iter().all(is_own)
    }
}
