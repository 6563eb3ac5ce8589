//! Requests that wait for their answer, by id, and those that nobody waits for any more.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::{mpsc, oneshot};

use crate::envelope::Answer;
use crate::error::{CloseReason, RequestError};
use crate::json::Json;

/// As many abandoned requests are remembered, so that a late answer finds its call.
const REMEMBERED: usize = 1_024;

pub(crate) type Settled = Result<Json, RequestError>;

/// The table of open requests.
#[derive(Default)]
pub(crate) struct InFlight {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    waiting: HashMap<u64, Waiting>,
    abandoned: VecDeque<(u64, u64)>,
    closed: Option<CloseReason>,
}

pub(crate) struct Waiting {
    pub(crate) settle: oneshot::Sender<Settled>,
    pub(crate) progress: Option<mpsc::Sender<Json>>,
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

impl InFlight {
    /// Enters a request.
    pub(crate) fn enter(&self, id: u64, waiting: Waiting) -> Result<(), CloseReason> {
        let mut state = self.state();
        if let Some(reason) = &state.closed {
            return Err(reason.clone());
        }
        state.waiting.insert(id, waiting);
        Ok(())
    }

    /// Settles request `id`; the first answer wins, one that nobody waits for is given back.
    pub(crate) fn settle(&self, id: u64, settled: Settled) -> (Belongs, Option<Settled>) {
        let mut state = self.state();
        if let Some(waiting) = state.waiting.remove(&id) {
            drop(state);
            // The one who waited may have gone at this very moment; then nobody needs it.
            _ = waiting.settle.send(settled);
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
    pub(crate) fn abandon(&self, id: u64, tag: u64) {
        let mut state = self.state();
        if state.waiting.remove(&id).is_some() {
            if state.abandoned.len() >= REMEMBERED {
                state.abandoned.pop_front();
            }
            state.abandoned.push_back((id, tag));
        }
    }

    /// Whether request `id` waits for its answer.
    pub(crate) fn is_waiting(&self, id: u64) -> bool {
        self.state().waiting.contains_key(&id)
    }

    /// The way for progress of request `id`, if it wants any.
    pub(crate) fn progress_of(&self, id: u64) -> Option<mpsc::Sender<Json>> {
        self.state().waiting.get(&id).and_then(|waiting| waiting.progress.clone())
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

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
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
