//! Calls that wait for a modern client to come back with what a server asked for.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use switchboard_core::{Outcome, Target, TaskNews, random};
use switchboard_store::Record;
use switchboard_wire::Json;
use tokio::sync::{broadcast, mpsc};
use tokio_util::sync::CancellationToken;

use crate::client::Busy;
use crate::listing::Listing;
use crate::notices::Notice;
use crate::relay::Ask;
use crate::session::locked;
use crate::tasks::Wanted;
use crate::wanted_messages::Wanting;

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
    /// Tells that they are wanted.
    #[expect(dead_code, reason = "they are wanted as long as it is there")]
    pub(crate) wanting: Option<Wanting>,
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
    /// The addresses of its server that clients know under others.
    pub(crate) renamed: Option<Arc<Listing>>,
}

impl Running {
    /// An outcome with the addresses that clients know, where those are others than its server's.
    pub(crate) fn with_shown_addresses(&self, outcome: Outcome) -> Outcome {
        let (Some(listing), Some(result)) = (&self.renamed, &outcome.result) else {
            return outcome;
        };
        let text = std::str::from_utf8(result).ok();
        match text.and_then(|text| listing.shown_result(&self.target.server, text)) {
            Some(shown) => Outcome { result: Some(shown.into()), ..outcome },
            None => outcome,
        }
    }
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
    limit: Duration,
}

impl Parked {
    pub(crate) fn new(most_per_caller: usize) -> Self {
        Self { by_word: Mutex::default(), most_per_caller, limit: LIMIT }
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
        let until = now + self.limit;
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use switchboard_core::{Target, TargetKind};
    use switchboard_wire::Revision;
    use tokio_util::sync::CancellationToken;

    use super::{Parked, Running};
    use crate::access::Access;
    use crate::client::{Abilities, Client};
    use crate::tasks::Wanted;

    fn running() -> Running {
        let client = Client::new(&Access::local(), None, Revision::NEWEST, Abilities::default());
        Running {
            call: Box::pin(std::future::pending()),
            target: Target::new(TargetKind::Tool, "one", "ask"),
            asks: None,
            progress: None,
            logs: None,
            wanting: None,
            busy: Arc::new(client).busy_with("one"),
            rounds: 1,
            given: Vec::new(),
            wanted: Wanted::Result,
            cancel: CancellationToken::new(),
            news: None,
            renamed: None,
        }
    }

    fn park(parked: &Parked, who: &str) -> Option<String> {
        parked.park(running(), Vec::new(), &who.into(), "about".to_owned())
    }

    #[test]
    fn a_call_is_taken_up_by_its_own_caller_about_the_same_and_once() {
        let parked = Parked::new(8);
        let word = park(&parked, "a").unwrap();
        let tampered = format!("{word}A");
        let shorter = word.get(1..).unwrap();
        for (word, who, about) in [
            (word.as_str(), "b", "about"),
            (&word, "", "about"),
            (&word, "a", "something else"),
            (&tampered, "a", "about"),
            (shorter, "a", "about"),
            ("", "a", "about"),
        ] {
            assert!(parked.take(word, who, about).is_none(), "{word} {who} {about}");
        }
        // What others tried has not taken it away.
        assert!(parked.take(&word, "a", "about").is_some());
        assert!(parked.take(&word, "a", "about").is_none());
    }

    #[test]
    fn a_word_is_worth_nothing_after_its_time_and_its_call_is_given_up() {
        let parked = Parked { limit: Duration::ZERO, ..Parked::new(8) };
        let word = park(&parked, "a").unwrap();
        assert!(parked.take(&word, "a", "about").is_none());
        parked.sweep();
        assert!(parked.by_word.lock().unwrap().is_empty());
    }

    #[test]
    fn a_caller_lets_only_so_many_wait_and_others_have_their_own() {
        let parked = Parked::new(2);
        let words: Vec<String> = ["a", "a", "b"].map(|who| park(&parked, who).unwrap()).into();
        assert!(park(&parked, "a").is_none());
        parked.give_up(|who| who == "a");
        assert!(parked.take(&words[0], "a", "about").is_none());
        assert!(parked.take(&words[2], "b", "about").is_some());
        assert!(park(&parked, "a").is_some());
    }
}
