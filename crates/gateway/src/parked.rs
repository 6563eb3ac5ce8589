//! Calls that wait for a modern client to come back with what a server asked for.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use switchboard_host::execute::TaskNews;
use switchboard_host::{Record, Target};
use switchboard_wire::Json;
use tokio::sync::{broadcast, mpsc};
use tokio_util::sync::CancellationToken;

use crate::client::Busy;
use crate::notices::Notice;
use crate::random;
use crate::relay::Ask;
use crate::session::locked;
use crate::tasks::Wanted;

/// How long a client may take to come back.
const LIMIT: Duration = Duration::from_secs(10 * 60);
/// As many calls wait at once, of all clients together.
const MOST: usize = 1_000;

/// A call under way, with what comes out of it.
pub(crate) struct Running {
    pub(crate) call: Pin<Box<dyn Future<Output = Record> + Send>>,
    pub(crate) target: Target,
    pub(crate) asks: Option<mpsc::Receiver<Ask>>,
    pub(crate) progress: Option<mpsc::Receiver<Json>>,
    /// What servers say meanwhile.
    pub(crate) logs: Option<broadcast::Receiver<Notice>>,
    /// Counts the call at its server.
    #[expect(dead_code, reason = "it counts as long as it is there")]
    pub(crate) busy: Busy,
    /// How often its server has asked.
    pub(crate) rounds: usize,
    /// Answers that came with the call itself.
    pub(crate) given: Vec<(String, Json)>,
    /// What its client wants where its server goes on with it.
    pub(crate) wanted: Wanted,
    /// Gives it up.
    pub(crate) cancel: CancellationToken,
    /// What becomes of the task that it is.
    pub(crate) news: Option<mpsc::Receiver<TaskNews>>,
}

/// A call that waits.
pub(crate) struct Waiting {
    pub(crate) running: Running,
    /// What its server asks, by the keys that the client was given.
    pub(crate) asks: Vec<(String, Ask)>,
    identity: Arc<str>,
    /// What was called with what: nobody may come back with something else.
    about: String,
    until: Instant,
}

/// All calls that wait.
pub(crate) struct Parked {
    by_word: Mutex<HashMap<String, Waiting>>,
    most_per_caller: usize,
}

impl Parked {
    pub(crate) fn new(most_per_caller: usize) -> Self {
        Self { by_word: Mutex::default(), most_per_caller }
    }

    /// Lets a call wait; the word is for its client alone. None when there is no room.
    pub(crate) fn park(
        &self,
        running: Running,
        asks: Vec<(String, Ask)>,
        identity: &Arc<str>,
        about: String,
    ) -> Option<String> {
        let mut waiting = locked(&self.by_word);
        let now = Instant::now();
        // Dropping a call gives it up.
        waiting.retain(|_, call| call.until > now);
        let own = waiting.values().filter(|call| call.identity == *identity).count();
        if waiting.len() >= MOST || own >= self.most_per_caller {
            return None;
        }
        let word = random::word()?;
        let identity = Arc::clone(identity);
        let until = now + LIMIT;
        waiting.insert(word.clone(), Waiting { running, asks, identity, about, until });
        Some(word)
    }

    /// Gives a call back to whoever it belongs to, once.
    pub(crate) fn take(&self, word: &str, identity: &str, about: &str) -> Option<Waiting> {
        let mut waiting = locked(&self.by_word);
        let call = waiting.get(word)?;
        let fits = *call.identity == *identity && call.about == about;
        if !fits || call.until <= Instant::now() {
            return None;
        }
        waiting.remove(word)
    }

    /// Gives up the calls of some callers.
    pub(crate) fn give_up(&self, of: impl Fn(&str) -> bool) {
        locked(&self.by_word).retain(|_, call| !of(&call.identity));
    }

    /// Gives up what nobody came back for.
    pub(crate) fn sweep(&self) {
        let now = Instant::now();
        locked(&self.by_word).retain(|_, call| call.until > now);
    }
}
