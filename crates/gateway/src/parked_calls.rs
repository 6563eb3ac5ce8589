//! Parked calls: they wait for a modern client to return with the answers to a server's questions.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use switchboard_core::{Outcome, Target, TaskUpdate, random_token};
use switchboard_store::Record;
use switchboard_wire::Json;
use tokio::sync::{broadcast, mpsc};
use tokio_util::sync::CancellationToken;

use crate::catalog_view::CatalogView;
use crate::client::ActiveCall;
use crate::log_subscribers::LogSubscription;
use crate::notices::ClientNotice;
use crate::relay::{KeyedAsk, RelayedAsk};
use crate::tasks::TaskRequest;

/// How long a call stays parked before it is cancelled: a person may have to answer.
const PARK_TIMEOUT: Duration = Duration::from_secs(10 * 60);
/// Maximum parked calls of all clients together.
const MAX_PARKED_CALLS: usize = 1_000;

pub(crate) struct RunningCall {
    pub(crate) call: Pin<Box<dyn Future<Output = Record> + Send>>,
    pub(crate) target: Target,
    pub(crate) asks: Option<mpsc::Receiver<RelayedAsk>>,
    pub(crate) progress: Option<mpsc::Receiver<Json>>,
    pub(crate) logs: Option<broadcast::Receiver<ClientNotice>>,
    #[expect(dead_code, reason = "dropping it ends the subscription to log messages")]
    pub(crate) log_subscription: Option<LogSubscription>,
    #[expect(dead_code, reason = "the client counts the call until this is dropped")]
    pub(crate) active_call: ActiveCall,
    /// Number of rounds in which the server has asked.
    pub(crate) rounds: usize,
    /// Answers that the client sent with the call itself.
    pub(crate) early_answers: Vec<(String, Json)>,
    pub(crate) task_request: TaskRequest,
    pub(crate) cancel: CancellationToken,
    /// Updates of the server's task, if the call continues as one.
    pub(crate) task_updates: Option<mpsc::Receiver<TaskUpdate>>,
    /// The view for rewriting URIs, if any differ from the server's own.
    pub(crate) uri_view: Option<Arc<CatalogView>>,
}

impl RunningCall {
    /// Replaces the URIs of the server in an outcome by public ones.
    pub(crate) fn rewrite_uris(&self, outcome: Outcome) -> Outcome {
        let (Some(listing), Some(result)) = (&self.uri_view, &outcome.result) else {
            return outcome;
        };
        let rewrite = |text| listing.rewrite_result(&self.target.server, text);
        match std::str::from_utf8(result).ok().and_then(rewrite) {
            Some(shown) => Outcome { result: Some(shown.into()), ..outcome },
            None => outcome,
        }
    }
}

/// A call that waits for its client.
pub(crate) struct ParkedCall {
    pub(crate) running: RunningCall,
    /// The server's questions, by the keys that the client got.
    pub(crate) asks: Vec<KeyedAsk>,
    identity: Arc<str>,
    /// Digest of the request: the call is resumed only by the same request.
    digest: String,
    until: Instant,
}

pub(crate) struct ParkedCalls {
    by_token: Mutex<HashMap<String, ParkedCall>>,
    max_per_caller: usize,
    limit: Duration,
}

impl ParkedCalls {
    pub(crate) fn new(max_per_caller: usize) -> Self {
        Self { by_token: Mutex::default(), max_per_caller, limit: PARK_TIMEOUT }
    }

    /// Parks a call and returns the token that resumes it. `None` if a limit is reached.
    pub(crate) fn park(
        &self,
        running: RunningCall,
        asks: Vec<KeyedAsk>,
        identity: &Arc<str>,
        about: String,
    ) -> Option<String> {
        let mut waiting = self.by_token.lock();
        let now = Instant::now();
        // Expired calls must not use up the limits. Dropping a call cancels it.
        waiting.retain(|_, call| call.until > now);
        let own = waiting.values().filter(|call| call.identity == *identity).count();
        if waiting.len() >= MAX_PARKED_CALLS || own >= self.max_per_caller {
            return None;
        }
        let word = random_token()?;
        let identity = Arc::clone(identity);
        let until = now + self.limit;
        waiting.insert(word.clone(), ParkedCall { running, asks, identity, digest: about, until });
        Some(word)
    }

    /// Takes a call out, if identity and digest match. Each token works once.
    pub(crate) fn take(&self, word: &str, identity: &str, about: &str) -> Option<ParkedCall> {
        let mut waiting = self.by_token.lock();
        let call = waiting.get(word)?;
        // Checked before the removal, so that a foreign attempt cannot take the call away.
        let fits = *call.identity == *identity && call.digest == about;
        if !fits || call.until <= Instant::now() {
            return None;
        }
        waiting.remove(word)
    }

    /// Cancels the calls of the callers that `of` selects.
    pub(crate) fn cancel_where(&self, of: impl Fn(&str) -> bool) {
        self.by_token.lock().retain(|_, call| !of(&call.identity));
    }

    /// Cancels the calls whose clients did not return in time.
    pub(crate) fn sweep(&self) {
        let now = Instant::now();
        self.by_token.lock().retain(|_, call| call.until > now);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use switchboard_access::Access;
    use switchboard_core::{Target, TargetKind};
    use switchboard_wire::Revision;
    use tokio_util::sync::CancellationToken;

    use super::{ParkedCalls, RunningCall};
    use crate::client::{ClientCapabilities, McpClient};
    use crate::tasks::TaskRequest;

    fn running() -> RunningCall {
        let client =
            McpClient::new(&Access::local(), None, Revision::NEWEST, ClientCapabilities::default());
        RunningCall {
            call: Box::pin(std::future::pending()),
            target: Target::new(TargetKind::Tool, "one", "ask"),
            asks: None,
            progress: None,
            logs: None,
            log_subscription: None,
            active_call: Arc::new(client).track_call("one"),
            rounds: 1,
            early_answers: Vec::new(),
            task_request: TaskRequest::Result,
            cancel: CancellationToken::new(),
            task_updates: None,
            uri_view: None,
        }
    }

    fn park(parked: &ParkedCalls, who: &str) -> Option<String> {
        parked.park(running(), Vec::new(), &who.into(), "about".to_owned())
    }

    #[test]
    fn a_call_is_taken_up_by_its_own_caller_about_the_same_and_once() {
        let parked = ParkedCalls::new(8);
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
        // The failed attempts did not remove the call.
        assert!(parked.take(&word, "a", "about").is_some());
        assert!(parked.take(&word, "a", "about").is_none());
    }

    #[test]
    fn a_word_is_worth_nothing_after_its_time_and_its_call_is_given_up() {
        let parked = ParkedCalls { limit: Duration::ZERO, ..ParkedCalls::new(8) };
        let word = park(&parked, "a").unwrap();
        assert!(parked.take(&word, "a", "about").is_none());
        parked.sweep();
        assert!(parked.by_token.lock().is_empty());
    }

    #[test]
    fn a_caller_lets_only_so_many_wait_and_others_have_their_own() {
        let parked = ParkedCalls::new(2);
        let words: Vec<String> = ["a", "a", "b"].map(|who| park(&parked, who).unwrap()).into();
        assert!(park(&parked, "a").is_none());
        parked.cancel_where(|who| who == "a");
        assert!(parked.take(&words[0], "a", "about").is_none());
        assert!(parked.take(&words[2], "b", "about").is_some());
        assert!(park(&parked, "a").is_some());
    }
}
