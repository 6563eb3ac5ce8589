//! A call that is under way: its intent, and exactly one outcome however it ends.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use tokio::sync::oneshot;

use super::call_id::CallId;
use super::entry::{Intent, Record, VerdictWord};
use super::error::LedgerError;
use super::group::{Change, CloseRow, Details, IntentRow, Message, News, Waiter};
use super::ledger::{Link, wait_for};
use super::results::StoredResult;
use crate::outcome::Outcome;

/// A call that is under way.
///
/// Dropped without an outcome it is recorded as `unknown` if its intent was written, for then it
/// may have been sent, and as `cancelled` if not.
#[derive(Debug)]
#[must_use = "dropping it records the call as cancelled"]
pub struct OpenCall {
    id: CallId,
    created_at: Timestamp,
    started: Instant,
    link: Option<Link>,
    details: Mutex<Details>,
    may_be_sent: AtomicBool,
}

impl OpenCall {
    pub(super) fn new(id: CallId, created_at: Timestamp, link: Option<Link>) -> Self {
        Self {
            id,
            created_at,
            started: Instant::now(),
            link,
            details: Mutex::default(),
            may_be_sent: AtomicBool::new(false),
        }
    }

    /// The number of the call.
    #[must_use]
    pub const fn id(&self) -> CallId {
        self.id
    }

    /// When it was opened.
    #[must_use]
    pub const fn created_at(&self) -> Timestamp {
        self.created_at
    }

    /// How long ago it was opened.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Notes which definition the call was resolved to; written with the intent or the outcome.
    pub fn resolved(&self, definition_digest: impl Into<Arc<str>>) {
        let mut details = self.details.lock().unwrap_or_else(PoisonError::into_inner);
        details.digest = Some(definition_digest.into());
    }

    /// Notes what policy said and which rule or person; written with the intent or the outcome.
    pub fn decided(&self, verdict: VerdictWord, by: impl Into<Arc<str>>) {
        let mut details = self.details.lock().unwrap_or_else(PoisonError::into_inner);
        details.verdict = Some((verdict, by.into()));
    }

    /// Writes that the call is about to be sent; returns after the commit.
    ///
    /// # Errors
    /// If that could not be written. The call must not be sent.
    pub async fn intent(&self, intent: Intent) -> Result<(), LedgerError> {
        if let Some(link) = &self.link {
            link.shared.status.check()?;
            let (waiter, written) = oneshot::channel();
            let row = IntentRow { at: Timestamp::now().as_microsecond(), intent };
            self.send(link, News::Intent(self.details(), row), Some(waiter));
            wait_for(written).await?;
        }
        self.may_be_sent.store(true, Ordering::Release);
        Ok(())
    }

    /// Writes the outcome; returns after the commit.
    ///
    /// If it cannot be written now, the record says so and the ledger keeps trying.
    pub async fn close(mut self, outcome: Outcome) -> Record {
        let mut record = Record {
            id: Some(self.id),
            outcome,
            created_at: self.created_at,
            duration: self.started.elapsed(),
            verdict: self.details().verdict,
            recorded: false,
            edited: None,
        };
        let Some(link) = self.link.take() else { return record };
        let (waiter, written) = oneshot::channel();
        let row = self.close_row(record.outcome.clone(), record.duration);
        match row.outcome.result.as_ref().filter(|text| text.len() > link.result_limit) {
            None => self.send(&link, News::Close(self.details(), Box::new(row)), Some(waiter)),
            Some(_) => self.close_large(link, row, waiter),
        }
        record.recorded = wait_for(written).await.is_ok();
        record
    }

    /// The file is written on a thread that ends its work even if nobody waits any more.
    fn close_large(&self, link: Link, mut row: CloseRow, waiter: Waiter) {
        let (id, details) = (self.id, self.details());
        tokio::task::spawn_blocking(move || {
            row.result = row.outcome.result.as_ref().map(|text| {
                let Link { result_limit, results, durability, .. } = &link;
                StoredResult::spill(text, *result_limit, results, id, *durability)
            });
            let news = News::Close(details, Box::new(row));
            let change = Change { id, news, waiter: Some(waiter), landed: false };
            link.shared.queue.force(Message::Change(Box::new(change)));
            drop(link.ledger);
        });
    }

    fn close_row(&self, outcome: Outcome, duration: Duration) -> CloseRow {
        CloseRow {
            at: Timestamp::now().as_microsecond(),
            duration_us: i64::try_from(duration.as_micros()).unwrap_or(i64::MAX),
            result: outcome.result.clone().map(StoredResult::Whole),
            outcome,
        }
    }

    fn details(&self) -> Details {
        self.details.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn send(&self, link: &Link, news: News, waiter: Option<Waiter>) {
        let change = Change { id: self.id, news, waiter, landed: false };
        link.shared.queue.force(Message::Change(Box::new(change)));
    }
}

impl Drop for OpenCall {
    fn drop(&mut self) {
        let Some(link) = self.link.take() else { return };
        let outcome = if self.may_be_sent.load(Ordering::Acquire) {
            Outcome::unknown("caller_gone", "nobody waited for the answer; the call may have run")
        } else {
            Outcome::cancelled("caller_gone", "the caller went away before the call was sent")
        };
        let row = self.close_row(outcome, self.started.elapsed());
        self.send(&link, News::Close(self.details(), Box::new(row)), None);
    }
}
