//! Requests that wait for their answer, by id, with their deadlines; and those that were given up.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use foldhash::HashMap;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::time::Instant;

use crate::envelope::Answer;
use crate::error::{CloseReason, RequestError};
use switchboard_json::Json;

/// As many abandoned requests are remembered, so that a late answer finds its call.
const REMEMBERED: usize = 1_024;

pub(crate) type Settled = Result<Json, RequestError>;

/// The table of open requests.
#[derive(Default)]
pub(crate) struct InFlight {
    state: Mutex<State>,
    /// Wakes whoever watches the deadlines.
    earlier: Arc<Notify>,
}

#[derive(Default)]
struct State {
    waiting: HashMap<u64, Waiting>,
    abandoned: VecDeque<(u64, u64)>,
    closed: Option<CloseReason>,
    /// When the deadlines are looked at next.
    next_look: Option<Instant>,
}

pub(crate) struct Waiting {
    pub(crate) settle: oneshot::Sender<Settled>,
    pub(crate) progress: Option<mpsc::Sender<Json>>,
    pub(crate) clock: Clock,
    /// A number of the caller's choice, kept for a late answer.
    pub(crate) tag: u64,
}

/// The two deadlines of one request.
pub(crate) struct Clock {
    started: Instant,
    idle: Duration,
    end: Instant,
    expires: Instant,
}

/// Whom an answer belonged to.
pub(crate) enum Belongs {
    /// To a request that waited for it.
    Waiting,
    /// To a request that was given up, with the tag that its caller chose.
    Abandoned(u64),
    /// To nobody.
    Nobody,
}

impl Clock {
    pub(crate) fn start(idle: Duration, total: Duration) -> Self {
        let started = Instant::now();
        let end = started + total;
        Self { started, idle, end, expires: end.min(started + idle) }
    }
}

impl InFlight {
    /// Enters a request.
    pub(crate) fn enter(&self, id: u64, waiting: Waiting) -> Result<(), CloseReason> {
        let mut state = self.state();
        if let Some(reason) = &state.closed {
            return Err(reason.clone());
        }
        let expires = waiting.clock.expires;
        state.waiting.insert(id, waiting);
        // Most requests wait as long as those before them, so nobody has to be woken.
        let is_earlier = state.next_look.is_none_or(|next| expires < next);
        if is_earlier {
            state.next_look = Some(expires);
        }
        drop(state);
        if is_earlier {
            self.earlier.notify_one();
        }
        Ok(())
    }

    /// Settles request `id`; the first answer wins, one that nobody waits for is given back.
    pub(crate) fn settle(&self, id: u64, settled: Settled) -> (Belongs, Option<Settled>) {
        let mut state = self.state();
        if let Some(waiting) = state.waiting.remove(&id) {
            drop(state);
            // The one who waited may have gone at this very moment; then nobody needs it.
            waiting.settle.send(settled).ok();
            return (Belongs::Waiting, None);
        }
        let at = state.abandoned.iter().position(|(abandoned, _)| *abandoned == id);
        let belongs = match at.and_then(|at| state.abandoned.remove(at)) {
            Some((_, tag)) => Belongs::Abandoned(tag),
            None => Belongs::Nobody,
        };
        (belongs, Some(settled))
    }

    /// Takes request `id` out without an answer.
    pub(crate) fn forget(&self, id: u64) {
        self.state().waiting.remove(&id);
    }

    /// Takes request `id` out and remembers it for a late answer.
    pub(crate) fn abandon(&self, id: u64) {
        let mut state = self.state();
        if let Some(waiting) = state.waiting.remove(&id) {
            state.remember(id, waiting.tag);
        }
    }

    /// Whether request `id` waits for its answer.
    pub(crate) fn is_waiting(&self, id: u64) -> bool {
        self.state().waiting.contains_key(&id)
    }

    /// Passes on progress of request `id`, which makes its wait start again; gives its tag if it
    /// wanted any.
    pub(crate) fn report(&self, id: u64, report: &Json) -> Option<u64> {
        let mut state = self.state();
        let Some(Waiting { progress: Some(progress), clock, tag, .. }) = state.waiting.get_mut(&id)
        else {
            return None;
        };
        // A watcher that does not keep up misses reports, never the result.
        progress.try_send(report.clone()).ok();
        clock.expires = (Instant::now() + clock.idle).min(clock.end);
        Some(*tag)
    }

    /// Makes every wait start again, as far as the limits in all allow; says how many there are.
    pub(crate) fn renew(&self) -> usize {
        let mut state = self.state();
        let now = Instant::now();
        for Waiting { clock, .. } in state.waiting.values_mut() {
            clock.expires = (now + clock.idle).min(clock.end);
        }
        state.waiting.len()
    }

    /// Closes the table: everyone who waits is let go and told why by dropping their sender.
    pub(crate) fn close(&self, reason: &CloseReason) -> bool {
        let mut state = self.state();
        if state.closed.is_some() {
            return false;
        }
        state.closed = Some(reason.clone());
        state.waiting.clear();
        true
    }

    /// Why the table is closed.
    pub(crate) fn closed(&self) -> Option<CloseReason> {
        self.state().closed.clone()
    }

    /// How many requests wait.
    pub(crate) fn len(&self) -> usize {
        self.state().waiting.len()
    }

    /// The tag of request `id`, if it waits and has one.
    pub(crate) fn tag_of(&self, id: u64) -> Option<u64> {
        self.state().waiting.get(&id).map(|waiting| waiting.tag).filter(|tag| *tag != 0)
    }

    /// The tags of the requests that have one.
    pub(crate) fn tags(&self) -> Vec<u64> {
        self.state().waiting.values().map(|waiting| waiting.tag).filter(|tag| *tag != 0).collect()
    }

    /// What tells that a deadline is nearer than the last look promised.
    pub(crate) fn earlier(&self) -> Arc<Notify> {
        Arc::clone(&self.earlier)
    }

    /// Settles all requests whose time is over; says when to look again.
    pub(crate) fn expire(&self) -> Option<Instant> {
        let mut state = self.state();
        let now = Instant::now();
        let over = |waiting: &Waiting| waiting.clock.expires <= now;
        let ids: Vec<u64> =
            state.waiting.iter().filter(|(_, one)| over(one)).map(|(id, _)| *id).collect();
        for id in ids {
            if let Some(waiting) = state.waiting.remove(&id) {
                state.remember(id, waiting.tag);
                let waited = now.duration_since(waiting.clock.started).as_millis();
                let waited = Duration::from_millis(u64::try_from(waited).unwrap_or(u64::MAX));
                waiting.settle.send(Err(RequestError::TimedOut(waited))).ok();
            }
        }
        state.next_look = state.waiting.values().map(|waiting| waiting.clock.expires).min();
        state.next_look
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn remember(&mut self, id: u64, tag: u64) {
        if self.abandoned.len() >= REMEMBERED {
            self.abandoned.pop_front();
        }
        self.abandoned.push_back((id, tag));
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        // Whoever watches the deadlines sees that there is nothing left to watch.
        self.earlier.notify_one();
    }
}

/// What an answer means to the one who waits for it.
pub(crate) fn settled(answer: Answer) -> Settled {
    match answer {
        Answer::Result(result) => Ok(result),
        Answer::Error(error) => Err(RequestError::Rpc(error)),
        Answer::Broken(why) => Err(RequestError::Protocol(why.to_owned())),
    }
}
