//! Groups of messages, merged into as few rows as possible for one transaction.

use std::sync::Arc;

use bytes::Bytes;
use foldhash::HashMap;
use switchboard_core::{Outcome, Timeline};
use tokio::sync::oneshot;

use crate::bodies::{BodyPlace, StoredBody};
use crate::call_id::CallId;
use crate::entry::{Intent, NewCall, VerdictWord};
use crate::error::LedgerError;
use crate::results::StoredResult;
use crate::seal::SealDigest;
use crate::tasks::TaskNote;

pub(crate) type CommitWaiter = oneshot::Sender<Result<(), LedgerError>>;

/// A message from a call to the writer.
#[derive(Debug)]
pub(crate) enum WriterMessage {
    Open(Box<NewRow>),
    Change(Box<CallChange>),
    /// The block of ids is used up, or a reader waits for queued messages to be committed.
    Refill(CommitWaiter),
}

impl WriterMessage {
    pub(crate) const fn is_urgent(&self) -> bool {
        match self {
            Self::Open(_) => false,
            Self::Change(change) => change.waiter.is_some(),
            Self::Refill(_) => true,
        }
    }
}

/// A row that the database does not have yet.
#[derive(Debug)]
pub(crate) struct NewRow {
    pub(crate) id: CallId,
    pub(crate) opening: Arc<CallOpening>,
    pub(crate) details: DecisionDetails,
    pub(crate) intent: Option<IntentRow>,
    pub(crate) close: Option<CloseRow>,
    pub(crate) waiters: Vec<CommitWaiter>,
    /// Whether the call is only sent after its intent is committed.
    pub(crate) is_held_back: bool,
    /// Digest for the seal, if the row was written complete; set while writing.
    pub(crate) digest: Option<SealDigest>,
}

impl NewRow {
    pub(crate) fn new(id: CallId, opening: Arc<CallOpening>) -> Self {
        Self {
            id,
            opening,
            details: DecisionDetails::default(),
            intent: None,
            close: None,
            waiters: Vec::new(),
            is_held_back: false,
            digest: None,
        }
    }
}

/// The part of a call that is known when it is opened.
#[derive(Debug)]
pub(crate) struct CallOpening {
    pub(crate) created_at: i64,
    pub(crate) call: NewCall,
    /// The arguments, or their place in a body file.
    pub(crate) arguments: StoredBody,
}

#[derive(Debug)]
pub(crate) struct CallChange {
    pub(crate) id: CallId,
    pub(crate) news: RowUpdate,
    pub(crate) waiter: Option<CommitWaiter>,
    /// Whether the row existed, as found while writing.
    pub(crate) landed: bool,
}

#[derive(Debug)]
pub(crate) enum RowUpdate {
    Intent(DecisionDetails, IntentRow),
    Close(DecisionDetails, Box<CloseRow>),
    Late(Bytes),
    Task(i64, Box<TaskNote>),
    Timeline(Box<Timeline>),
}

/// Details that are known between opening and sending a call.
#[derive(Debug, Clone, Default)]
pub(crate) struct DecisionDetails {
    pub(crate) digest: Option<Arc<str>>,
    pub(crate) verdict: Option<(VerdictWord, Arc<str>)>,
    pub(crate) timeline: Option<Box<Timeline>>,
}

#[derive(Debug)]
pub(crate) struct IntentRow {
    pub(crate) at: i64,
    pub(crate) intent: Intent,
    /// The arguments to send, if they differ from those of the call.
    pub(crate) sent: Option<StoredBody>,
}

#[derive(Debug)]
pub(crate) struct CloseRow {
    pub(crate) at: i64,
    pub(crate) duration_us: i64,
    pub(crate) outcome: Outcome,
    pub(crate) result: Option<ResultBody>,
}

/// A result in its row or in a body file.
#[derive(Debug)]
pub(crate) enum ResultBody {
    Row(StoredResult),
    InFile(BodyPlace),
}

impl ResultBody {
    /// Returns the whole text or its place, or `None` if the text was truncated.
    pub(crate) fn body(&self) -> Option<StoredBody> {
        match self {
            Self::Row(StoredResult::Whole(text)) => Some(StoredBody::Inline(text.clone())),
            Self::Row(StoredResult::Cut { .. }) => None,
            Self::InFile(place) => Some(StoredBody::InFile(place.clone())),
        }
    }
}

/// The messages of one transaction.
#[derive(Debug, Default)]
pub(crate) struct Group {
    pub(crate) inserts: Vec<NewRow>,
    pub(crate) changes: Vec<CallChange>,
    pub(crate) refills: Vec<CommitWaiter>,
    places: HashMap<CallId, usize>,
}

impl Group {
    pub(crate) fn add(&mut self, message: WriterMessage) {
        match message {
            WriterMessage::Open(row) => {
                self.places.insert(row.id, self.inserts.len());
                self.inserts.push(*row);
            }
            WriterMessage::Change(change) => self.add_change(*change),
            WriterMessage::Refill(waiter) => self.refills.push(waiter),
        }
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.inserts.is_empty() && self.changes.is_empty() && self.refills.is_empty()
    }

    /// Returns the calls that this group closes, with their digests if known.
    pub(crate) fn closed_calls(&self) -> impl Iterator<Item = (i64, Option<SealDigest>)> {
        let inserted = self.inserts.iter().filter(|row| row.close.is_some());
        let changed =
            self.changes.iter().filter(|change| matches!(change.news, RowUpdate::Close(..)));
        let inserted = inserted.map(|row| (row.id.get(), row.digest));
        inserted.chain(changed.map(|change| (change.id.get(), None)))
    }

    /// Notifies all waiters that their rows are committed, or that a row to update was missing.
    pub(crate) fn complete(self) {
        let inserted = self.inserts.into_iter().flat_map(|row| row.waiters);
        for waiter in inserted.chain(self.refills) {
            send_result(waiter, Ok(()));
        }
        for change in self.changes {
            let landed = change.landed;
            if let Some(waiter) = change.waiter {
                send_result(waiter, if landed { Ok(()) } else { Err(LedgerError::missing()) });
            }
        }
    }

    /// Reports the error to all waiters, and returns the messages that must still be written.
    pub(crate) fn fail(mut self, error: &LedgerError) -> Self {
        // Intents with a waiter are dropped: their calls will not start, so they must not look as
        // if they were sent. All other intents are in the journal, and their calls have been sent.
        for row in &mut self.inserts {
            row.intent.take_if(|_| row.is_held_back);
            for waiter in row.waiters.drain(..) {
                send_result(waiter, Err(error.clone()));
            }
        }
        self.changes.retain_mut(|change| {
            let Some(waiter) = change.waiter.take() else { return true };
            send_result(waiter, Err(error.clone()));
            !matches!(change.news, RowUpdate::Intent(..))
        });
        for waiter in self.refills.drain(..) {
            send_result(waiter, Err(error.clone()));
        }
        self
    }

    pub(crate) fn absorb(&mut self, later: Self) {
        for row in later.inserts {
            self.add(WriterMessage::Open(Box::new(row)));
        }
        for change in later.changes {
            self.add_change(change);
        }
        self.refills.extend(later.refills);
    }

    fn add_change(&mut self, change: CallChange) {
        // A short call becomes one complete row in one insert, which is also sealed faster.
        let place = self.places.get(&change.id).copied();
        let Some(row) = place.and_then(|place| self.inserts.get_mut(place)) else {
            self.changes.push(change);
            return;
        };
        match change.news {
            RowUpdate::Intent(details, intent) => {
                row.details = details;
                row.intent = Some(intent);
                row.is_held_back = change.waiter.is_some();
            }
            RowUpdate::Close(details, close) => {
                row.details = details;
                row.close = Some(*close);
            }
            RowUpdate::Late(_) | RowUpdate::Task(..) | RowUpdate::Timeline(_) => {
                self.changes.push(change);
                return;
            }
        }
        row.waiters.extend(change.waiter);
    }
}

fn send_result(waiter: CommitWaiter, result: Result<(), LedgerError>) {
    // The receiver may be gone: a caller may have been cancelled or have timed out.
    let _gone = waiter.send(result);
}
