//! The live feed: one stream of numbered notices from the host's events and the review queue.
//!
//! The feed runs while there are viewers, and for a while after the last one left, so that a short
//! disconnect loses nothing. The host produces events only for subscribers, so an unwatched console
//! does not slow down calls.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde::Serialize;
use switchboard_core::{EventKind, random_token};
use switchboard_host::Host;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;

use super::events::Aside;

/// Maximum number of notices kept for viewers that reconnect; others reload the whole page.
const MAX_NOTICES: usize = 1_024;
/// How long the feed runs without a viewer.
const IDLE_TIMEOUT: Duration = Duration::from_secs(60);

pub(crate) struct LiveFeed {
    host: Host,
    stop: CancellationToken,
    running: Mutex<Option<Arc<FeedRun>>>,
}

struct FeedRun {
    /// Distinguishes the ids of this run from those of other runs.
    run: String,
    state: Mutex<FeedState>,
    sender: broadcast::Sender<Arc<FeedNotice>>,
    over: CancellationToken,
}

struct FeedState {
    next: u64,
    kept: VecDeque<Arc<FeedNotice>>,
    is_over: bool,
}

/// An event or a change of the review queue.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FeedNotice {
    /// The event id, with which a viewer resumes after this notice.
    pub(crate) id: String,
    number: u64,
    /// The affected part of a page: `servers`, `calls`, `reviews`, `messages`, `progress` or `all`.
    pub(crate) part: &'static str,
    pub(crate) text: String,
}

pub(crate) struct FeedSubscription {
    /// The missed notices. `None` if they are unknown; then every part of the page may be stale.
    pub(crate) missed: Option<Vec<Arc<FeedNotice>>>,
    pub(crate) receiver: broadcast::Receiver<Arc<FeedNotice>>,
}

impl LiveFeed {
    pub(crate) fn new(host: Host, stop: CancellationToken) -> Self {
        Self { host, stop, running: Mutex::default() }
    }

    /// Subscribes from now on, or from after the last notice that the viewer saw.
    pub(crate) fn subscribe(&self, last: Option<&str>) -> FeedSubscription {
        let mut running = self.running.lock();
        if let Some(view) = running.as_ref().and_then(|running| running.subscribe(last)) {
            return view;
        }
        let fresh = Arc::new(FeedRun::new());
        let receiver = fresh.sender.subscribe();
        tokio::spawn(follow_events(Arc::clone(&fresh), self.host.clone(), self.stop.clone()));
        tokio::spawn(watch_queue(Arc::clone(&fresh), self.host.clone()));
        *running = Some(fresh);
        FeedSubscription { missed: last.is_none().then(Vec::new), receiver }
    }

    /// Publishes a notice if the feed runs. Without viewers, it is dropped.
    pub(crate) fn publish(&self, part: &'static str, body: &impl Serialize) {
        if let Some(running) = self.running.lock().as_ref() {
            running.publish(part, body);
        }
    }
}

impl FeedRun {
    fn new() -> Self {
        Self {
            run: random_token().unwrap_or_default().chars().take(8).collect(),
            state: Mutex::new(FeedState { next: 1, kept: VecDeque::new(), is_over: false }),
            sender: broadcast::Sender::new(MAX_NOTICES),
            over: CancellationToken::new(),
        }
    }

    fn subscribe(&self, last: Option<&str>) -> Option<FeedSubscription> {
        let state = self.state.lock();
        if state.is_over {
            return None;
        }
        // Under the lock, so that no notice is published between the missed ones and the receiver.
        let receiver = self.sender.subscribe();
        let missed = match last {
            None => Some(Vec::new()),
            Some(last) => self.missed_since(&state, last),
        };
        Some(FeedSubscription { missed, receiver })
    }

    fn missed_since(&self, state: &FeedState, last: &str) -> Option<Vec<Arc<FeedNotice>>> {
        let (run, number) = last.rsplit_once('-')?;
        let number: u64 = number.parse().ok()?;
        let oldest = state.kept.front().map_or(state.next, |notice| notice.number);
        // An id of another run, or from before the buffer, says nothing about what was missed.
        let is_known = run == self.run && number < state.next && number + 1 >= oldest;
        is_known
            .then(|| state.kept.iter().filter(|notice| notice.number > number).cloned().collect())
    }

    fn publish(&self, part: &'static str, body: &impl Serialize) {
        let text = serde_json::to_string(body).unwrap_or_default();
        let mut state = self.state.lock();
        let number = state.next;
        state.next += 1;
        let id = format!("{}-{number}", self.run);
        let notice = Arc::new(FeedNotice { id, number, part, text });
        if state.kept.len() == MAX_NOTICES {
            state.kept.pop_front();
        }
        state.kept.push_back(Arc::clone(&notice));
        // Fails if no page is watching; `kept` has the notice for the next one.
        _ = self.sender.send(notice);
    }

    /// Ends this run if it has no viewers, and returns whether it has ended.
    fn end_if_unwatched(&self) -> bool {
        let mut state = self.state.lock();
        // Under the lock of `subscribe`, so that a viewer cannot join a run that ends.
        state.is_over = self.sender.receiver_count() == 0;
        state.is_over
    }
}

async fn follow_events(running: Arc<FeedRun>, host: Host, stop: CancellationToken) {
    let mut events = host.events().watch();
    let mut check = tokio::time::interval(IDLE_TIMEOUT);
    // The first tick would be immediate.
    check.reset();
    loop {
        tokio::select! {
            () = stop.cancelled() => break,
            event = events.recv() => match event {
                Ok(event) => running.publish(page_part(&event.what), &event.what),
                Err(RecvError::Lagged(missed)) => {
                    running.publish("all", &Aside::Missed { count: Some(missed) });
                }
                Err(RecvError::Closed) => break,
            },
            _ = check.tick() => if running.end_if_unwatched() {
                break;
            },
        }
    }
    running.over.cancel();
}

async fn watch_queue(running: Arc<FeedRun>, host: Host) {
    // Entries of other processes cause no events, so the queue itself is watched.
    let mut waiting = host.reviews().watch();
    // The first list is the current state, not a change.
    let mut is_first = true;
    while let Some(changed) = running.over.run_until_cancelled(waiting.next_change()).await {
        match changed {
            Ok(list) if !is_first => {
                running.publish("reviews", &Aside::Reviews { waiting: list.len() });
            }
            Ok(_) => is_first = false,
            // The queue cannot be read at the moment; the pages report the error.
            Err(_) => tokio::time::sleep(Duration::from_secs(1)).await,
        }
    }
}

fn page_part(what: &EventKind) -> &'static str {
    match what {
        EventKind::CallStarted { .. }
        | EventKind::CallFinished { .. }
        | EventKind::TaskChanged { .. } => "calls",
        EventKind::Waiting { .. }
        | EventKind::Answered { .. }
        | EventKind::ElicitationComplete { .. } => "reviews",
        EventKind::ServerSaid { .. } => "messages",
        // Includes events that later versions add.
        _ => "servers",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn texts(missed: Option<Vec<Arc<FeedNotice>>>) -> Option<Vec<String>> {
        missed.map(|missed| missed.iter().map(|notice| notice.text.clone()).collect())
    }

    #[test]
    fn whoever_comes_back_gets_what_was_missed_or_is_told_that_it_is_not_known() {
        let running = FeedRun::new();
        for number in 1..=3 {
            running.publish("calls", &json!(number));
        }
        let id = |number: u64| format!("{}-{number}", running.run);
        let missed = |last: &str| texts(running.subscribe(Some(last)).unwrap().missed);
        let all = |numbers: &[&str]| Some(numbers.iter().map(|text| (*text).to_owned()).collect());
        assert_eq!(missed(&id(1)), all(&["2", "3"]));
        assert_eq!(missed(&id(3)), all(&[]));
        assert_eq!(missed(&id(4)), None);
        assert_eq!(missed("other-1"), None);
        assert_eq!(missed("odd"), None);
        for number in 0..MAX_NOTICES {
            running.publish("calls", &json!(number));
        }
        assert_eq!(missed(&id(2)), None, "it is not kept any more");
        assert_eq!(missed(&id(3)).unwrap().len(), MAX_NOTICES);
    }

    #[test]
    fn it_ends_only_when_nobody_looks() {
        let running = FeedRun::new();
        let view = running.subscribe(None).unwrap();
        assert!(!running.end_if_unwatched());
        drop(view);
        assert!(running.end_if_unwatched());
        assert!(running.subscribe(None).is_none());
    }
}
