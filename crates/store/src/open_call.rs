//! A call in flight: its intent, and exactly one outcome however it ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use jiff::Timestamp;
use parking_lot::Mutex;
use switchboard_core::{CallTimeline, Outcome, Timeline};
use switchboard_text::redact_text;
use tokio::sync::oneshot;

use crate::bodies::StoredBody;
use crate::call_id::CallId;
use crate::entry::{Intent, Record, VerdictWord};
use crate::error::LedgerError;
use crate::group::{
    CallChange, CallOpening, CloseRow, CommitWaiter, DecisionDetails, IntentRow, ResultBody,
    RowUpdate, WriterMessage,
};
use crate::ledger::{LedgerLink, wait_for_commit};
use crate::reader::FullCall;
use crate::redacted_body;
use crate::results::StoredResult;
use crate::tasks::TaskNote;

/// A call in flight.
///
/// If it is dropped without an outcome, it is recorded as `unknown` once its intent was written,
/// and as `cancelled` before. A call that continues as a task stays open.
#[derive(Debug)]
#[must_use = "dropping it records the call as cancelled"]
pub struct OpenCall {
    id: CallId,
    created_at: Timestamp,
    started: Instant,
    link: Option<LedgerLink>,
    /// Taken by the first journal entry, which contains it.
    opening: Mutex<Option<Arc<CallOpening>>>,
    details: Mutex<DecisionDetails>,
    timeline: CallTimeline,
    may_be_sent: AtomicBool,
    /// Whether the call continues as a recorded task of the server.
    is_task: AtomicBool,
}

impl OpenCall {
    pub(crate) fn new(
        id: CallId,
        created_at: Timestamp,
        opening: Arc<CallOpening>,
        link: LedgerLink,
    ) -> Self {
        let mut call = Self::without_ledger(id, created_at);
        call.link = Some(link);
        call.opening = Mutex::new(Some(opening));
        call.timeline = CallTimeline::default();
        call
    }

    pub(crate) fn without_ledger(id: CallId, created_at: Timestamp) -> Self {
        Self {
            id,
            created_at,
            started: Instant::now(),
            link: None,
            opening: Mutex::new(None),
            details: Mutex::default(),
            timeline: CallTimeline::off(),
            may_be_sent: AtomicBool::new(false),
            is_task: AtomicBool::new(false),
        }
    }

    /// Restores a call that continues as a task, possibly one that another process made.
    pub(crate) fn resume(full: &FullCall, link: Option<LedgerLink>) -> Self {
        let summary = &full.summary;
        let age = Timestamp::now().duration_since(summary.created_at);
        let age = Duration::try_from(age).unwrap_or_default();
        let details = DecisionDetails {
            digest: full.definition_digest.as_deref().map(Into::into),
            verdict: summary.verdict.as_ref().map(|(word, by)| (*word, by.as_str().into())),
            timeline: None,
        };
        let timeline = match (&link, &full.timeline) {
            (None, _) => CallTimeline::off(),
            (Some(_), None) => CallTimeline::default(),
            (Some(_), Some(steps)) => steps.clone().into(),
        };
        Self {
            id: summary.id,
            created_at: summary.created_at,
            started: Instant::now().checked_sub(age).unwrap_or_else(Instant::now),
            link,
            opening: Mutex::new(None),
            details: Mutex::new(details),
            timeline,
            may_be_sent: AtomicBool::new(true),
            is_task: AtomicBool::new(true),
        }
    }

    /// Returns the id of the call.
    #[must_use]
    pub const fn id(&self) -> CallId {
        self.id
    }

    /// Returns the timeline of the call, to which events can be added.
    #[must_use]
    pub const fn timeline(&self) -> &CallTimeline {
        &self.timeline
    }

    /// Returns when the call was opened.
    #[must_use]
    pub const fn created_at(&self) -> Timestamp {
        self.created_at
    }

    /// Returns how long ago the call was opened.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Sets the digest of the resolved definition.
    pub fn note_definition(&self, definition_digest: impl Into<Arc<str>>) {
        self.details.lock().digest = Some(definition_digest.into());
    }

    /// Sets the verdict and the rule or person that decided.
    pub fn note_verdict(&self, verdict: VerdictWord, by: impl Into<Arc<str>>) {
        self.details.lock().verdict = Some((verdict, by.into()));
    }

    /// Returns the last verdict, and the rule or person that decided.
    #[must_use]
    pub fn verdict(&self) -> Option<(VerdictWord, Arc<str>)> {
        self.details.lock().verdict.clone()
    }

    /// Appends a note to the verdict, such as the arguments that a hook replaced.
    pub fn append_verdict_note(&self, note: &str) {
        let mut details = self.details.lock();
        if let Some((_, by)) = &mut details.verdict {
            *by = format!("{by}; {note}").into();
        }
    }

    /// Records that the call is about to be sent. Returns once that is durable. If this fails, the
    /// call must not be sent.
    pub async fn record_intent(&self, intent: Intent) -> Result<(), LedgerError> {
        if let Some(link) = &self.link {
            link.shared.status.check()?;
            let sent = intent
                .arguments
                .as_ref()
                .map(|text| link.store(&redacted_body::redact_arguments(text)))
                .transpose();
            let sent = sent.map_err(|error| LedgerError::from_io(&error))?;
            let row = IntentRow { at: Timestamp::now().as_microsecond(), intent, sent };
            self.attach_timeline(self.timeline.snapshot());
            self.persist(link, RowUpdate::Intent(self.details(), row)).await?;
        }
        // After the write: a failed intent must not turn a dropped call into `unknown`.
        self.may_be_sent.store(true, Ordering::Release);
        Ok(())
    }

    /// Records that the server continues the call as a task. Returns after the commit. From then
    /// on, the call stays open until it is closed, even if its caller disappears.
    pub async fn record_task(&self, note: TaskNote) -> Result<(), LedgerError> {
        if let Some(link) = &self.link {
            let (waiter, written) = oneshot::channel();
            let at = Timestamp::now().as_microsecond();
            let state = &note.state;
            self.timeline.add_task(state.status.as_str(), state.message.as_deref());
            self.send_change(link, RowUpdate::Task(at, Box::new(note)), Some(waiter));
            wait_for_commit(written).await?;
        }
        self.is_task.store(true, Ordering::Release);
        Ok(())
    }

    /// Returns whether the call continues as a task that another process may finish.
    #[must_use]
    pub fn is_task(&self) -> bool {
        self.is_task.load(Ordering::Acquire)
    }

    /// Leaves a call that continues as a task open, so that another process can finish it.
    #[must_use]
    pub fn leave_open(mut self, outcome: Outcome) -> Record {
        let link = self.link.take();
        if let Some(link) = &link {
            self.keep_timeline(link);
        }
        Record { recorded: link.is_some(), ..self.record(outcome) }
    }

    /// Records the outcome. Returns once that is durable.
    ///
    /// If the outcome cannot be written at present, the record says so, and the writer retries.
    pub async fn close(mut self, outcome: Outcome) -> Record {
        let mut record = self.record(outcome);
        let Some(link) = self.link.take() else { return record };
        self.attach_timeline(self.timeline.take());
        let mut row = self.close_row(record.outcome.clone(), record.duration);
        let result = row.outcome.result.take();
        // A large result is written on another thread, so that it does not block an async worker.
        let written = match result.filter(|text| text.len() > link.result_limit) {
            None => {
                self.keep_result(&link, &mut row);
                self.persist(&link, RowUpdate::Close(self.details(), Box::new(row))).await
            }
            Some(text) => {
                let (waiter, written) = oneshot::channel();
                self.close_large(link, row, text, waiter);
                wait_for_commit(written).await
            }
        };
        record.recorded = written.is_ok();
        record
    }

    fn keep_result(&self, link: &LedgerLink, row: &mut CloseRow) {
        if let Some(ResultBody::Row(StoredResult::Whole(text))) = &row.result
            && let Ok(kept) = link.store(text)
        {
            // If the body file cannot be written, the result stays in its row.
            row.result = Some(match kept {
                StoredBody::InFile(place) => ResultBody::InFile(place),
                StoredBody::Inline(text) => ResultBody::Row(StoredResult::Whole(text)),
            });
        }
    }

    /// Returns once the update is durable, in the journal or in the database.
    async fn persist(&self, link: &LedgerLink, news: RowUpdate) -> Result<(), LedgerError> {
        let queue = |news, waiter| self.send_change(link, news, waiter);
        let news = match &link.shared.journal {
            // Several processes may close a task. The database decides whose outcome is recorded.
            Some(journal) if !self.is_task() => {
                let opening = self.opening.lock().take();
                let not_kept =
                    journal.append(self.id, opening.as_deref(), news, |news| queue(news, None));
                let Some(news) = not_kept else { return Ok(()) };
                // The database may still accept the update; otherwise, its error is more precise.
                *self.opening.lock() = opening;
                news
            }
            _ => news,
        };
        let (waiter, written) = oneshot::channel();
        queue(news, Some(waiter));
        wait_for_commit(written).await
    }

    fn record(&self, outcome: Outcome) -> Record {
        Record {
            id: Some(self.id),
            outcome,
            created_at: self.created_at,
            duration: self.started.elapsed(),
            verdict: self.details().verdict,
            recorded: false,
            edited: None,
        }
    }

    /// Writes a large result on a blocking thread, which completes even if the caller is cancelled.
    fn close_large(&self, link: LedgerLink, mut row: CloseRow, text: Bytes, waiter: CommitWaiter) {
        let id = self.id;
        let details = self.details();
        tokio::task::spawn_blocking(move || {
            let LedgerLink { result_limit, results, durability, .. } = &link;
            let stored = StoredResult::spill(&text, *result_limit, results, id, *durability);
            row.result = Some(ResultBody::Row(stored));
            let news = RowUpdate::Close(details, Box::new(row));
            let change = CallChange { id, news, waiter: Some(waiter), landed: false };
            link.shared.queue.force(WriterMessage::Change(Box::new(change)));
            // Dropped last: the queue is closed with the last handle on the ledger.
            drop(link.ledger);
        });
    }

    fn close_row(&self, mut outcome: Outcome, duration: Duration) -> CloseRow {
        let result = outcome.result.as_ref().map(redacted_body::without_secrets);
        outcome.message = outcome.message.map(|message| redact_text(&message).into_owned());
        CloseRow {
            at: Timestamp::now().as_microsecond(),
            duration_us: i64::try_from(duration.as_micros()).unwrap_or(i64::MAX),
            result: result.map(StoredResult::Whole).map(ResultBody::Row),
            outcome,
        }
    }

    fn attach_timeline(&self, timeline: Option<Box<Timeline>>) {
        if timeline.is_some() {
            self.details.lock().timeline = timeline;
        }
    }

    fn keep_timeline(&self, link: &LedgerLink) {
        if let Some(timeline) = self.timeline.take() {
            self.send_change(link, RowUpdate::Timeline(timeline), None);
        }
    }

    fn details(&self) -> DecisionDetails {
        self.details.lock().clone()
    }

    fn send_change(&self, link: &LedgerLink, news: RowUpdate, waiter: Option<CommitWaiter>) {
        let change = CallChange { id: self.id, news, waiter, landed: false };
        link.shared.queue.force(WriterMessage::Change(Box::new(change)));
    }
}

impl Drop for OpenCall {
    fn drop(&mut self) {
        let Some(link) = self.link.take() else { return };
        if self.is_task() {
            self.keep_timeline(&link);
            return;
        }
        self.attach_timeline(self.timeline.take());
        // `drop` cannot wait for the commit. If the process dies first, recovery finds the intent.
        let outcome = if self.may_be_sent.load(Ordering::Acquire) {
            let message = "the caller stopped waiting for the answer; the call may have run";
            Outcome::unknown("caller_gone", message)
        } else {
            Outcome::cancelled("caller_gone", "the caller disconnected before the call was sent")
        };
        let row = self.close_row(outcome, self.started.elapsed());
        self.send_change(&link, RowUpdate::Close(self.details(), Box::new(row)), None);
    }
}
