//! The table of requests in flight, by id, with their deadlines; and of abandoned requests.

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

/// Maximum number of abandoned requests remembered, so that a late answer finds its call.
const MAX_ABANDONED: usize = 1_024;

pub(crate) type RequestResult = Result<Json, RequestError>;

#[derive(Default)]
pub(crate) struct PendingRequests {
    state: Mutex<InFlightState>,
    deadline_notify: Arc<Notify>,
}

#[derive(Default)]
struct InFlightState {
    waiting: HashMap<u64, PendingRequest>,
    abandoned: VecDeque<(u64, u64)>,
    closed: Option<CloseReason>,
    /// When the deadline watcher runs next.
    next_check: Option<Instant>,
}

pub(crate) struct PendingRequest {
    pub(crate) settle: oneshot::Sender<RequestResult>,
    pub(crate) progress: Option<mpsc::Sender<Json>>,
    pub(crate) deadlines: RequestDeadlines,
    /// A number chosen by the caller, kept for a late answer.
    pub(crate) tag: u64,
}

/// The idle deadline and the total deadline of a request.
pub(crate) struct RequestDeadlines {
    started: Instant,
    idle: Duration,
    end: Instant,
    expires: Instant,
}

pub(crate) enum AnswerOwner {
    Waiting,
    /// An abandoned request, with the tag that its caller chose.
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
        // Most deadlines are later than the next check, so the watcher need not be woken.
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

    /// Settles request `id`. Returns an answer that no request waits for.
    pub(crate) fn settle(
        &self,
        id: u64,
        settled: RequestResult,
    ) -> (AnswerOwner, Option<RequestResult>) {
        let mut state = self.state.lock();
        // Removed by the first answer, so a second one finds no request.
        if let Some(waiting) = state.waiting.remove(&id) {
            drop(state);
            // The request may just have been dropped; its answer is not needed then.
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

    pub(crate) fn forget(&self, id: u64) {
        self.state.lock().waiting.remove(&id);
    }

    /// Removes request `id` and remembers it for a late answer.
    pub(crate) fn abandon(&self, id: u64) {
        let mut state = self.state.lock();
        if let Some(waiting) = state.waiting.remove(&id) {
            state.remember_abandoned(id, waiting.tag);
        }
    }

    pub(crate) fn is_waiting(&self, id: u64) -> bool {
        self.state.lock().waiting.contains_key(&id)
    }

    /// Forwards a progress report of request `id` and restarts its idle deadline. Returns the
    /// request's tag, or `None` if the request did not ask for progress.
    pub(crate) fn report_progress(&self, id: u64, report: &Json) -> Option<u64> {
        let mut state = self.state.lock();
        let Some(PendingRequest { progress: Some(progress), deadlines: clock, tag, .. }) =
            state.waiting.get_mut(&id)
        else {
            return None;
        };
        // A slow receiver misses reports, never the result.
        _ = progress.try_send(report.clone());
        // The watcher is not woken: deadlines only move back, and it checks again when it runs.
        clock.expires = (Instant::now() + clock.idle).min(clock.end);
        Some(*tag)
    }

    /// Restarts all idle deadlines, within the total deadlines; returns the number of requests.
    pub(crate) fn renew_deadlines(&self) -> usize {
        let mut state = self.state.lock();
        let now = Instant::now();
        for PendingRequest { deadlines: clock, .. } in state.waiting.values_mut() {
            clock.expires = (now + clock.idle).min(clock.end);
        }
        state.waiting.len()
    }

    /// Closes the table. Dropping the senders wakes all waiting requests.
    pub(crate) fn close(&self, reason: &CloseReason) -> bool {
        let mut state = self.state.lock();
        if state.closed.is_some() {
            return false;
        }
        state.closed = Some(reason.clone());
        state.waiting.clear();
        true
    }

    pub(crate) fn close_reason(&self) -> Option<CloseReason> {
        self.state.lock().closed.clone()
    }

    pub(crate) fn len(&self) -> usize {
        self.state.lock().waiting.len()
    }

    /// Returns the tag of request `id` if it is in flight and has one.
    pub(crate) fn tag(&self, id: u64) -> Option<u64> {
        self.state.lock().waiting.get(&id).map(|waiting| waiting.tag).filter(|tag| *tag != 0)
    }

    /// Returns the tags of all requests that have one.
    pub(crate) fn tags(&self) -> Vec<u64> {
        let state = self.state.lock();
        state.waiting.values().map(|waiting| waiting.tag).filter(|tag| *tag != 0).collect()
    }

    pub(crate) fn deadline_notify(&self) -> Arc<Notify> {
        Arc::clone(&self.deadline_notify)
    }

    /// Settles all expired requests; returns when to check again.
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
                // A dropped request has no caller to notify of the timeout.
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
        // Lets the deadline watcher notice that the table is gone.
        self.deadline_notify.notify_one();
    }
}

pub(crate) fn into_result(answer: ResponseBody) -> RequestResult {
    match answer {
        ResponseBody::Result(result) => Ok(result),
        ResponseBody::Error(error) => Err(RequestError::Rpc(error)),
        ResponseBody::Broken(why) => Err(RequestError::Protocol(why.to_owned())),
    }
}
