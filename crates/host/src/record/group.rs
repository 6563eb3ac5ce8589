//! Messages of many calls, folded into the fewest rows that one transaction has to touch.

use std::sync::Arc;

use bytes::Bytes;
use foldhash::HashMap;
use tokio::sync::oneshot;

use super::bodies::{Body, Place};
use super::call_id::CallId;
use super::entry::{Intent, NewCall, VerdictWord};
use super::error::LedgerError;
use super::results::StoredResult;
use super::seal::Sum;
use super::tasks::TaskNote;
use crate::outcome::Outcome;
use crate::timeline::Timeline;

/// Told after the commit, or why there was none.
pub(super) type Waiter = oneshot::Sender<Result<(), LedgerError>>;

/// What a call tells the writer.
#[derive(Debug)]
pub(super) enum Message {
    Open(Box<NewRow>),
    Change(Box<Change>),
    /// The block of numbers is used up, or somebody wants to read what was written.
    Refill(Waiter),
}

impl Message {
    /// Whether someone waits for the commit.
    pub(super) const fn is_urgent(&self) -> bool {
        match self {
            Self::Open(_) => false,
            Self::Change(change) => change.waiter.is_some(),
            Self::Refill(_) => true,
        }
    }
}

/// The row of a call that is not in the file yet.
#[derive(Debug)]
pub(super) struct NewRow {
    pub(super) id: CallId,
    pub(super) opening: Arc<Opening>,
    pub(super) details: Details,
    pub(super) intent: Option<IntentRow>,
    pub(super) close: Option<CloseRow>,
    pub(super) waiters: Vec<Waiter>,
    /// Whether the call is not sent before its intent is in the database.
    pub(super) is_held_back: bool,
    /// What seals the call, if its row was written complete; set while writing.
    pub(super) digest: Option<Sum>,
}

/// A call as it was taken.
#[derive(Debug)]
pub(super) struct Opening {
    pub(super) created_at: i64,
    pub(super) call: NewCall,
    /// Its arguments, or where they are.
    pub(super) arguments: Body,
}

/// Something new about a call.
#[derive(Debug)]
pub(super) struct Change {
    pub(super) id: CallId,
    pub(super) news: News,
    pub(super) waiter: Option<Waiter>,
    /// Whether a row was there to be changed; set while writing.
    pub(super) landed: bool,
}

#[derive(Debug)]
pub(super) enum News {
    Intent(Details, IntentRow),
    Close(Details, Box<CloseRow>),
    Late(Bytes),
    Task(i64, Box<TaskNote>),
    /// What happened to a call that stays open.
    Timeline(Box<Timeline>),
}

/// What was learnt between opening and sending.
#[derive(Debug, Clone, Default)]
pub(super) struct Details {
    pub(super) digest: Option<Arc<str>>,
    pub(super) verdict: Option<(VerdictWord, Arc<str>)>,
    /// What happened so far, if anything did.
    pub(super) timeline: Option<Box<Timeline>>,
}

#[derive(Debug)]
pub(super) struct IntentRow {
    pub(super) at: i64,
    pub(super) intent: Intent,
    /// The arguments that leave, if they are not those of the call.
    pub(super) sent: Option<Body>,
}

#[derive(Debug)]
pub(super) struct CloseRow {
    pub(super) at: i64,
    pub(super) duration_us: i64,
    pub(super) outcome: Outcome,
    pub(super) result: Option<Kept>,
}

/// A result, in the row or beside the database.
#[derive(Debug)]
pub(super) enum Kept {
    Row(StoredResult),
    There(Place),
}

impl Kept {
    /// The whole text, or where it is; none if it was cut.
    pub(super) fn body(&self) -> Option<Body> {
        match self {
            Self::Row(StoredResult::Whole(text)) => Some(Body::Here(text.clone())),
            Self::Row(StoredResult::Cut { .. }) => None,
            Self::There(place) => Some(Body::There(place.clone())),
        }
    }
}

/// Everything that goes into one transaction.
#[derive(Debug, Default)]
pub(super) struct Group {
    pub(super) inserts: Vec<NewRow>,
    pub(super) changes: Vec<Change>,
    pub(super) refills: Vec<Waiter>,
    places: HashMap<CallId, usize>,
}

impl Group {
    pub(super) fn add(&mut self, message: Message) {
        match message {
            Message::Open(row) => {
                self.places.insert(row.id, self.inserts.len());
                self.inserts.push(*row);
            }
            Message::Change(change) => self.add_change(*change),
            Message::Refill(waiter) => self.refills.push(waiter),
        }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.inserts.is_empty() && self.changes.is_empty() && self.refills.is_empty()
    }

    /// The calls that have ended in this group, with what seals them if that is known.
    pub(super) fn closed(&self) -> impl Iterator<Item = (i64, Option<Sum>)> {
        let inserted = self.inserts.iter().filter(|row| row.close.is_some());
        let changed = self.changes.iter().filter(|change| matches!(change.news, News::Close(..)));
        let inserted = inserted.map(|row| (row.id.get(), row.digest));
        inserted.chain(changed.map(|change| (change.id.get(), None)))
    }

    /// Tells everyone who waits that their row is on disk, or that it was not there any more.
    pub(super) fn succeed(self) {
        let inserted = self.inserts.into_iter().flat_map(|row| row.waiters);
        for waiter in inserted.chain(self.refills) {
            tell(waiter, Ok(()));
        }
        for change in self.changes {
            let landed = change.landed;
            if let Some(waiter) = change.waiter {
                tell(waiter, if landed { Ok(()) } else { Err(LedgerError::missing()) });
            }
        }
    }

    /// Tells everyone who waits that nothing was written, and leaves what is still worth writing.
    ///
    /// Intents that somebody waits for are dropped: their calls are told not to start, so they must
    /// not look as if sent. The others are in the journal, and their calls have been sent.
    pub(super) fn fail(mut self, error: &LedgerError) -> Self {
        for row in &mut self.inserts {
            row.intent.take_if(|_| row.is_held_back);
            for waiter in row.waiters.drain(..) {
                tell(waiter, Err(error.clone()));
            }
        }
        self.changes.retain_mut(|change| {
            let Some(waiter) = change.waiter.take() else { return true };
            tell(waiter, Err(error.clone()));
            !matches!(change.news, News::Intent(..))
        });
        for waiter in self.refills.drain(..) {
            tell(waiter, Err(error.clone()));
        }
        self
    }

    /// Adds the rows of a later group.
    pub(super) fn absorb(&mut self, later: Self) {
        for row in later.inserts {
            self.add(Message::Open(Box::new(row)));
        }
        for change in later.changes {
            self.add_change(change);
        }
        self.refills.extend(later.refills);
    }

    fn add_change(&mut self, change: Change) {
        let place = self.places.get(&change.id).copied();
        let Some(row) = place.and_then(|place| self.inserts.get_mut(place)) else {
            self.changes.push(change);
            return;
        };
        match change.news {
            News::Intent(details, intent) => {
                row.details = details;
                row.intent = Some(intent);
                row.is_held_back = change.waiter.is_some();
            }
            News::Close(details, close) => {
                row.details = details;
                row.close = Some(*close);
            }
            News::Late(_) | News::Task(..) | News::Timeline(_) => {
                self.changes.push(change);
                return;
            }
        }
        row.waiters.extend(change.waiter);
    }
}

fn tell(waiter: Waiter, result: Result<(), LedgerError>) {
    // A caller that no longer waits needs no answer.
    let _gone = waiter.send(result);
}
