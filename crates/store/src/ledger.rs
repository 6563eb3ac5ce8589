//! The handle on the ledger: opens calls, stores late answers, runs queries.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use bytes::Bytes;
use jiff::Timestamp;
use parking_lot::Mutex;
use switchboard_core::Durability;
use switchboard_files::parent_folder;
use tokio::sync::oneshot;

use crate::bodies::{BodyStore, StoredBody};
use crate::call_id::{CallId, IdAllocator};
use crate::entry::{NewCall, OpenReport};
use crate::error::LedgerError;
use crate::file::FileError;
use crate::filter::Filter;
use crate::group::{CallChange, CallOpening, NewRow, RowUpdate, WriterMessage};
use crate::journal::Journal;
use crate::open_call::OpenCall;
use crate::reader::{CallSummary, FullCall, LedgerReader};
use crate::startup::{WritableLedger, start};
use crate::status::LedgerStatus;
use crate::write_queue::WriteQueue;
use crate::writer::{LedgerWriter, WriterShared};
use crate::{redacted_body, startup};

/// How long a call waits for a commit before the disk counts as hanging.
pub(crate) const COMMIT_TIMEOUT: Duration = Duration::from_secs(15);

/// How a ledger is written, and how large it may grow.
#[derive(Debug, Clone)]
pub struct LedgerOptions {
    /// The kind of failure that a commit survives.
    pub durability: Durability,
    /// Maximum size of a result in the database, in bytes; larger results get a separate file.
    pub result_limit: usize,
    /// How long to wait while another process holds the database lock.
    pub busy_wait: Duration,
    /// Maximum size of the database, in pages of 4 KiB.
    pub max_pages: Option<u32>,
}

impl Default for LedgerOptions {
    fn default() -> Self {
        Self {
            durability: Durability::default(),
            result_limit: 1 << 20,
            busy_wait: Duration::from_secs(5),
            max_pages: None,
        }
    }
}

/// The handle on the ledger; clones share the same state.
#[derive(Debug, Clone)]
pub struct Ledger(Arc<LedgerMode>);

#[derive(Debug)]
enum LedgerMode {
    On(LiveLedger),
    Off(AtomicI64),
}

#[derive(Debug)]
struct LiveLedger {
    shared: Arc<WriterShared>,
    reader: LedgerReader,
    opened: OpenReport,
    results: Arc<Path>,
    result_limit: usize,
    durability: Durability,
    bodies: Arc<BodyStore>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// The parts of a live ledger that an open call uses.
#[derive(Debug, Clone)]
pub(crate) struct LedgerLink {
    pub ledger: Ledger,
    pub shared: Arc<WriterShared>,
    pub results: Arc<Path>,
    pub(crate) result_limit: usize,
    pub durability: Durability,
    pub bodies: Arc<BodyStore>,
}

impl Ledger {
    /// Opens or creates the ledger at `path` with default options.
    pub fn open(path: &Path, durability: Durability) -> Result<Self, LedgerError> {
        Self::open_with(path, &LedgerOptions { durability, ..LedgerOptions::default() })
    }

    /// Opens or creates the ledger at `path` with these options. Blocks for a short time.
    pub fn open_with(path: &Path, options: &LedgerOptions) -> Result<Self, LedgerError> {
        let WritableLedger { connection, owner, block, opened } = start(path, options)?;
        let shared = Arc::new(WriterShared {
            queue: WriteQueue::new(),
            status: LedgerStatus::new(path),
            ids: IdAllocator::new(block),
            journal: match options.durability {
                Durability::Process => Some(Journal::for_database(path, owner.name())),
                Durability::Power => None,
            },
        });
        let bodies = BodyStore::new(startup::body_folder(path), owner.name());
        let reader = LedgerReader::for_process(path, owner.name());
        // A thread of its own, because SQLite blocks and a commit may wait for the disk.
        let writer = LedgerWriter::new(path.to_owned(), connection, owner, Arc::clone(&shared));
        let thread = std::thread::Builder::new()
            .name("ledger".to_owned())
            .spawn(move || writer.run())
            .map_err(|error| FileError::from_folder(path, &error))?;
        Ok(Self(Arc::new(LedgerMode::On(LiveLedger {
            shared,
            reader,
            opened,
            results: parent_folder(path).join("results").into(),
            // A truncated result keeps two ends of at least one byte.
            result_limit: options.result_limit.max(2),
            durability: options.durability,
            bodies: Arc::new(bodies),
            thread: Mutex::new(Some(thread)),
        }))))
    }

    /// Returns a ledger that stores no calls; they only get their record back.
    #[must_use]
    pub fn off() -> Self {
        Self(Arc::new(LedgerMode::Off(AtomicI64::new(1))))
    }

    /// Returns the report about opening the ledger, or `None` if the ledger is off.
    #[must_use]
    pub fn open_report(&self) -> Option<&OpenReport> {
        match &*self.0 {
            LedgerMode::On(live) => Some(&live.opened),
            LedgerMode::Off(_) => None,
        }
    }

    /// Checks that new calls would be accepted.
    pub fn check(&self) -> Result<(), LedgerError> {
        match &*self.0 {
            LedgerMode::On(live) => live.shared.status.check(),
            LedgerMode::Off(_) => Ok(()),
        }
    }

    /// Opens a call and queues its row for the writer. If this fails, the call must not start.
    pub async fn open_call(&self, mut call: NewCall) -> Result<OpenCall, LedgerError> {
        let created_at = Timestamp::now();
        let live = match &*self.0 {
            LedgerMode::On(live) => live,
            LedgerMode::Off(next) => {
                let id = CallId(next.fetch_add(1, Ordering::Relaxed));
                return Ok(OpenCall::without_ledger(id, created_at));
            }
        };
        live.shared.status.check()?;
        let id = live.next_id().await?;
        let link = self.link(live);
        // Redacted here, before any copy of the arguments reaches the disk.
        let given = std::mem::take(&mut call.arguments);
        let arguments = link.store(&redacted_body::redact_arguments(&given));
        let arguments = arguments.map_err(|error| LedgerError::from_io(&error))?;
        let created = created_at.as_microsecond();
        let opening = Arc::new(CallOpening { created_at: created, call, arguments });
        let row = NewRow::new(id, Arc::clone(&opening));
        live.shared.queue.push(WriterMessage::Open(Box::new(row))).await?;
        Ok(OpenCall::new(id, created_at, opening, link))
    }

    /// Stores an answer that arrived after the call was closed. The outcome does not change.
    pub async fn store_late_answer(&self, id: CallId, answer: Bytes) -> Result<(), LedgerError> {
        let LedgerMode::On(live) = &*self.0 else { return Ok(()) };
        live.shared.status.check()?;
        // Late answers have no file of their own, so a long one is cut.
        let answer = answer.slice(..answer.len().min(live.result_limit));
        let (waiter, written) = oneshot::channel();
        let change =
            CallChange { id, news: RowUpdate::Late(answer), waiter: Some(waiter), landed: false };
        live.shared.queue.push(WriterMessage::Change(Box::new(change))).await?;
        wait_for_commit(written).await
    }

    /// Returns the matching calls, newest first.
    pub async fn list(&self, filter: Filter) -> Result<Vec<CallSummary>, LedgerError> {
        match &*self.0 {
            LedgerMode::On(live) => live.synced_reader().await?.list(filter).await,
            LedgerMode::Off(_) => Ok(Vec::new()),
        }
    }

    /// Returns the full details of a call.
    pub async fn show(&self, id: CallId) -> Result<Option<FullCall>, LedgerError> {
        match &*self.0 {
            LedgerMode::On(live) => live.synced_reader().await?.show(id).await,
            LedgerMode::Off(_) => Ok(None),
        }
    }

    /// Returns the full details of the newest call with this reference.
    pub async fn find_by_reference(
        &self,
        reference: &str,
    ) -> Result<Option<FullCall>, LedgerError> {
        match &*self.0 {
            LedgerMode::On(live) => live.synced_reader().await?.find_by_reference(reference).await,
            LedgerMode::Off(_) => Ok(None),
        }
    }

    /// Returns the servers and targets of a conversation's sent calls, with the number of calls.
    pub async fn targets_sent_in(
        &self,
        conversation: &str,
    ) -> Result<Vec<(String, String, u64)>, LedgerError> {
        match &*self.0 {
            LedgerMode::On(live) => live.reader.targets_sent_in(conversation).await,
            LedgerMode::Off(_) => Ok(Vec::new()),
        }
    }

    /// Returns the full JSON text of a call's result, or `None` if it was not stored completely.
    pub async fn load_result(&self, full: &FullCall) -> Result<Option<Bytes>, LedgerError> {
        let (LedgerMode::On(live), Some(result)) = (&*self.0, full.result.clone()) else {
            return Ok(None);
        };
        let results = Arc::clone(&live.results);
        let whole = tokio::task::spawn_blocking(move || result.load_whole(&results)).await;
        let whole = whole.map_err(|error| LedgerError::Read(error.to_string()))?;
        whole.map_err(|error| LedgerError::Read(error.to_string()))
    }

    /// Returns the number of recorded calls.
    pub async fn count(&self) -> Result<u64, LedgerError> {
        match &*self.0 {
            LedgerMode::On(live) => live.synced_reader().await?.count().await,
            LedgerMode::Off(_) => Ok(0),
        }
    }

    /// Writes all queued messages, closes the file and accepts no more calls.
    pub async fn stop(&self) {
        let LedgerMode::On(live) = &*self.0 else { return };
        live.shared.queue.close();
        let thread = live.thread.lock().take();
        if let Some(thread) = thread {
            let joined = tokio::task::spawn_blocking(move || thread.join());
            // A hanging disk must not keep the host from shutting down.
            let _hung = tokio::time::timeout(COMMIT_TIMEOUT, joined).await;
        }
    }

    /// Returns the reader, or `None` if the ledger is off.
    pub async fn reader(&self) -> Result<Option<&LedgerReader>, LedgerError> {
        match &*self.0 {
            LedgerMode::On(live) => live.synced_reader().await.map(Some),
            LedgerMode::Off(_) => Ok(None),
        }
    }

    /// Returns the link for calls that write, or `None` if the ledger is off.
    pub(crate) fn writer_link(&self) -> Option<LedgerLink> {
        match &*self.0 {
            LedgerMode::On(live) => Some(self.link(live)),
            LedgerMode::Off(_) => None,
        }
    }

    fn link(&self, live: &LiveLedger) -> LedgerLink {
        LedgerLink {
            ledger: self.clone(),
            shared: Arc::clone(&live.shared),
            results: Arc::clone(&live.results),
            result_limit: live.result_limit,
            durability: live.durability,
            bodies: Arc::clone(&live.bodies),
        }
    }
}

impl LedgerLink {
    pub(crate) fn store(&self, text: &Bytes) -> std::io::Result<StoredBody> {
        match self.durability {
            Durability::Process => self.bodies.store(text),
            // Body files are not synced to disk, so a power loss could separate them from the row.
            Durability::Power => Ok(StoredBody::Inline(text.clone())),
        }
    }
}

impl LiveLedger {
    /// Returns the reader after all queued messages are committed.
    async fn synced_reader(&self) -> Result<&LedgerReader, LedgerError> {
        // While writing fails, the committed rows can still be read.
        if self.shared.status.check().is_ok() && self.shared.queue.len() > 0 {
            let (waiter, written) = oneshot::channel();
            self.shared.queue.force(WriterMessage::Refill(waiter));
            // On a timeout the query misses the newest calls, which is better than an error.
            let _late = wait_for_commit(written).await;
        }
        Ok(&self.reader)
    }

    async fn next_id(&self) -> Result<CallId, LedgerError> {
        // Other calls may take a whole new block before this one gets an id, hence the loop.
        let deadline = Instant::now() + COMMIT_TIMEOUT;
        loop {
            if let Some(id) = self.shared.ids.take() {
                return Ok(id);
            }
            if Instant::now() >= deadline {
                return Err(LedgerError::queue_full());
            }
            let (waiter, written) = oneshot::channel();
            self.shared.queue.push(WriterMessage::Refill(waiter)).await?;
            wait_for_commit(written).await?;
        }
    }
}

impl Drop for LiveLedger {
    fn drop(&mut self) {
        // The thread writes the remaining messages and then exits.
        self.shared.queue.close();
    }
}

pub(crate) async fn wait_for_commit(
    written: oneshot::Receiver<Result<(), LedgerError>>,
) -> Result<(), LedgerError> {
    match tokio::time::timeout(COMMIT_TIMEOUT, written).await {
        Ok(Ok(result)) => result,
        Ok(Err(_)) => Err(LedgerError::writer_stopped()),
        Err(_) => Err(LedgerError::slow()),
    }
}

#[cfg(test)]
#[path = "ledger_tests.rs"]
pub(crate) mod tests;
