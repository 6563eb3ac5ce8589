//! Requests that wait for their answer, by id, with their deadlines; and those that were given up.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use foldhash::HashMap;
use parking_lot::Mutex;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::time::Instant;

use crate::envelope::ResponseBody;
use crate::error::{CloseReason, RequestError};
use switchboard_json::Json;

/// As many abandoned requests are remembered, so that a late answer finds its call.
const MAX_ABANDONED: usize = 1_024;

pub(crate) type RequestResult = Result<Json, RequestError>;

/// The table of open requests.
#[derive(Default)]
pub(crate) struct PendingRequests {
    state: Mutex<InFlightState>,
    /// Wakes whoever watches the deadlines.
    deadline_notify: Arc<Notify>,
}

#[derive(Default)]
struct InFlightState {
    waiting: HashMap<u64, PendingRequest>,
    abandoned: VecDeque<(u64, u64)>,
    closed: Option<CloseReason>,
    /// When the deadlines are looked at next.
    next_check: Option<Instant>,
}

pub(crate) struct PendingRequest {
    pub(crate) settle: oneshot::Sender<RequestResult>,
    pub(crate) progress: Option<mpsc::Sender<Json>>,
    pub(crate) deadlines: RequestDeadlines,
    /// A number of the caller's choice, kept for a late answer.
    pub(crate) tag: u64,
}

/// The two deadlines of one request.
pub(crate) struct RequestDeadlines {
    started: Instant,
    idle: Duration,
    end: Instant,
    expires: Instant,
}

/// Whom an answer belonged to.
pub(crate) enum AnswerOwner {
    /// To a request that waited for it.
    Waiting,
    /// To a request that was given up, with the tag that its caller chose.
    Abandoned(u64),
    Nobody,
}

impl RequestDeadlines {
    pub(crate) fn start(idle: Duration, total: Duration) -> Self {
        let started = Instant::now();
        let end = started + total;
        Self { started, idle, end, expires: end.min(started + idle) }
    }
}

impl PendingRequests {
    pub(crate) fn insert(&self, id: u64, waiting: PendingRequest) -> Result<(), CloseReason> {
        let mut state = self.state.lock();
        if let Some(reason) = &state.closed {
            return Err(reason.clone());
        }
        let expires = waiting.deadlines.expires;
        state.waiting.insert(id, waiting);
        // Most requests wait as long as those before them, so nobody has to be woken.
        let is_earlier = state.next_check.is_none_or(|next| expires < next);
        if is_earlier {
            state.next_check = Some(expires);
        }
        drop(state);
        if is_earlier {
            self.deadline_notify.notify_one();
        }
        Ok(())
    }

    /// Settles request `id`; the first answer wins, one that nobody waits for is given back.
    pub(crate) fn settle(
        &self,
        id: u64,
        settled: RequestResult,
    ) -> (AnswerOwner, Option<RequestResult>) {
        let mut state = self.state.lock();
        if let Some(waiting) = state.waiting.remove(&id) {
            drop(state);
            // The request may have been dropped at this moment; its answer is not needed then.
            _ = waiting.settle.send(settled);
            return (AnswerOwner::Waiting, None);
        }
        let at = state.abandoned.iter().position(|(abandoned, _)| *abandoned == id);
        let belongs = match at.and_then(|at| state.abandoned.remove(at)) {
            Some((_, tag)) => AnswerOwner::Abandoned(tag),
            None => AnswerOwner::Nobody,
        };
        (belongs, Some(settled))
    }

    /// Takes request `id` out without an answer.
    pub(crate) fn forget(&self, id: u64) {
        self.state.lock().waiting.remove(&id);
    }

    /// Takes request `id` out and remembers it for a late answer.
    pub(crate) fn abandon(&self, id: u64) {
        let mut state = self.state.lock();
        if let Some(waiting) = state.waiting.remove(&id) {
            state.remember_abandoned(id, waiting.tag);
        }
    }

    /// Whether request `id` waits for its answer.
    pub(crate) fn is_waiting(&self, id: u64) -> bool {
        self.state.lock().waiting.contains_key(&id)
    }

    /// Passes on progress of request `id`, which makes its wait start again; gives its tag if it
    /// wanted any.
    pub(crate) fn report_progress(&self, id: u64, report: &Json) -> Option<u64> {
        let mut state = self.state.lock();
        let Some(PendingRequest { progress: Some(progress), deadlines: clock, tag, .. }) =
            state.waiting.get_mut(&id)
        else {
            return None;
        };
        // A watcher that does not keep up misses reports, never the result.
        _ = progress.try_send(report.clone());
        clock.expires = (Instant::now() + clock.idle).min(clock.end);
        Some(*tag)
    }

    /// Makes every wait start again, as far as the limits in all allow; says how many there are.
    pub(crate) fn renew_deadlines(&self) -> usize {
        let mut state = self.state.lock();
        let now = Instant::now();
        for PendingRequest { deadlines: clock, .. } in state.waiting.values_mut() {
            clock.expires = (now + clock.idle).min(clock.end);
        }
        state.waiting.len()
    }

    /// Closes the table: everyone who waits is let go and told why by dropping their sender.
    pub(crate) fn close(&self, reason: &CloseReason) -> bool {
        let mut state = self.state.lock();
        if state.closed.is_some() {
            return false;
        }
        state.closed = Some(reason.clone());
        state.waiting.clear();
        true
    }

    /// Why the table is closed.
    pub(crate) fn close_reason(&self) -> Option<CloseReason> {
        self.state.lock().closed.clone()
    }

    /// How many requests wait.
    pub(crate) fn len(&self) -> usize {
        self.state.lock().waiting.len()
    }

    /// The tag of request `id`, if it waits and has one.
    pub(crate) fn tag(&self, id: u64) -> Option<u64> {
        self.state.lock().waiting.get(&id).map(|waiting| waiting.tag).filter(|tag| *tag != 0)
    }

    /// The tags of the requests that have one.
    pub(crate) fn tags(&self) -> Vec<u64> {
        self.state
            .lock()
            .waiting
            .values()
            .map(|waiting| waiting.tag)
            .filter(|tag| *tag != 0)
            .collect()
    }

    /// What tells that a deadline is nearer than the last look promised.
    pub(crate) fn deadline_notify(&self) -> Arc<Notify> {
        Arc::clone(&self.deadline_notify)
    }

    /// Settles all requests whose time is over; says when to look again.
    pub(crate) fn expire(&self) -> Option<Instant> {
        let mut state = self.state.lock();
        let now = Instant::now();
        let over = |waiting: &PendingRequest| waiting.deadlines.expires <= now;
        let ids: Vec<u64> =
            state.waiting.iter().filter(|(_, one)| over(one)).map(|(id, _)| *id).collect();
        for id in ids {
            if let Some(waiting) = state.waiting.remove(&id) {
                state.remember_abandoned(id, waiting.tag);
                let waited = now.duration_since(waiting.deadlines.started).as_millis();
                let waited = Duration::from_millis(u64::try_from(waited).unwrap_or(u64::MAX));
                // A request that was dropped has no caller to tell of the timeout.
                _ = waiting.settle.send(Err(RequestError::TimedOut(waited)));
            }
        }
        state.next_check = state.waiting.values().map(|waiting| waiting.deadlines.expires).min();
        state.next_check
    }
}

impl InFlightState {
    fn remember_abandoned(&mut self, id: u64, tag: u64) {
        if self.abandoned.len() >= MAX_ABANDONED {
            self.abandoned.pop_front();
        }
        self.abandoned.push_back((id, tag));
    }
}

impl Drop for PendingRequests {
    fn drop(&mut self) {
        // Whoever watches the deadlines sees that there is nothing left to watch.
        self.deadline_notify.notify_one();
    }
}

/// What an answer means to the one who waits for it.
pub(crate) fn into_result(answer: ResponseBody) -> RequestResult {
    match answer {
        ResponseBody::Result(result) => Ok(result),
        ResponseBody::Error(error) => Err(RequestError::Rpc(error)),
        ResponseBody::Broken(why) => Err(RequestError::Protocol(why.to_owned())),
    }
}
