//! An entry that this process waits for, from its first moment to its end.

use std::sync::atomic::Ordering;
use std::time::Duration;

use switchboard_store::{Entry, Given, State, WaitingError};
use tokio::time::sleep;

use crate::review::review_queue::{LOOK, Waiting};

/// An entry that this process waits for; withdrawn when it is dropped before it has ended.
pub(super) struct Posted {
    pub(super) entry: Entry,
    counted: Counted,
    has_ended: bool,
}

/// One more that this process waits for, until it is dropped.
pub(super) struct Counted {
    waiting: Waiting,
    /// Whether the process would stay for the answer alone.
    is_needed: bool,
}

impl Posted {
    pub(super) fn count(waiting: &Waiting) -> Counted {
        waiting.0.own.fetch_add(1, Ordering::AcqRel);
        Counted { waiting: waiting.clone(), is_needed: true }
    }

    /// The same for something that no call waits for.
    pub(super) fn beside(waiting: &Waiting) -> Counted {
        Counted { waiting: waiting.clone(), is_needed: false }
    }

    /// Waits until it has ended, whoever ended it.
    pub(super) async fn over(&self) {
        let waiting = &self.counted.waiting;
        loop {
            let told = waiting.0.changed.notified();
            let id = self.entry.id.clone();
            // What cannot be read at this moment may be read at the next; the limit goes on.
            if waiting.on_disk(move |store| store.is_over(&id)).await.unwrap_or(false) {
                return;
            }
            tokio::select! {
                () = told => {}
                () = sleep(LOOK) => {}
            }
        }
    }

    /// Ends it; gives whether nobody else was faster.
    pub(super) async fn end(&mut self, state: State) -> Result<bool, WaitingError> {
        let id = self.entry.id.clone();
        let ended = self.counted.waiting.on_disk(move |store| store.end(&id, &state)).await;
        self.has_ended = ended.is_ok();
        ended
    }

    /// How it ended, with the answer if there is one.
    pub(super) async fn take(mut self) -> Result<(State, Option<Given>), WaitingError> {
        let (id, digest) = (self.entry.id.clone(), self.entry.digest.clone());
        let taken = self.counted.waiting.on_disk(move |store| store.take(&id, &digest)).await;
        self.has_ended = taken.is_ok();
        taken
    }
}

impl Counted {
    pub(super) fn posted(self, entry: Entry) -> Posted {
        Posted { entry, counted: self, has_ended: false }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        if self.is_needed {
            self.waiting.0.own.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

impl Drop for Posted {
    fn drop(&mut self) {
        let is_ending = self.counted.waiting.0.is_ending.load(Ordering::Acquire);
        if self.has_ended || is_ending && self.entry.asked.outlives_its_process() {
            return;
        }
        let (waiting, id) = (self.counted.waiting.clone(), self.entry.id.clone());
        let withdraw = move || {
            let why = "the call that needed it has ended".to_owned();
            // What stays behind is withdrawn by the next reader, once this process has ended.
            waiting.0.store.end(&id, &State::Withdrawn { why }).ok();
        };
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(withdraw)),
            Err(_) => withdraw(),
        }
    }
}

/// The moment at which an entry that waits from now on expires.
pub(super) fn deadline(limit: Duration) -> tokio::time::Instant {
    // Nobody waits longer than a year, and the clock can count no further than some hundred.
    tokio::time::Instant::now() + limit.min(Duration::from_secs(86_400 * 365))
}
