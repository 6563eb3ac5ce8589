//! The handle on the ledger: opens calls, stores late answers, answers queries.

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

/// How long a call waits for the disk.
pub(crate) const COMMIT_TIMEOUT: Duration = Duration::from_secs(15);

/// How the ledger is kept.
#[derive(Debug, Clone)]
pub struct LedgerOptions {
    /// What a commit survives.
    pub durability: Durability,
    /// Results with more bytes than this go into a file of their own.
    pub result_limit: usize,
    /// How long to wait for another process that holds the file locked.
    pub busy_wait: Duration,
    /// How many pages of 4 KiB the file may have.
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

/// The ledger; clones are handles on the same one.
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

/// What an open call needs of a ledger that writes.
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
    /// Opens or creates the ledger at `path`; blocks for a short time.
    ///
    /// # Errors
    /// If the file or its folder cannot be used.
    pub fn open(path: &Path, durability: Durability) -> Result<Self, LedgerError> {
        Self::open_with(path, &LedgerOptions { durability, ..LedgerOptions::default() })
    }

    /// Opens or creates the ledger at `path`; blocks for a short time.
    ///
    /// # Errors
    /// If the file or its folder cannot be used.
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
            result_limit: options.result_limit.max(2),
            durability: options.durability,
            bodies: Arc::new(bodies),
            thread: Mutex::new(Some(thread)),
        }))))
    }

    /// A ledger that keeps nothing: calls only get their record back.
    #[must_use]
    pub fn off() -> Self {
        Self(Arc::new(LedgerMode::Off(AtomicI64::new(1))))
    }

    /// What happened while it was opened; none if nothing is kept.
    #[must_use]
    pub fn open_report(&self) -> Option<&OpenReport> {
        match &*self.0 {
            LedgerMode::On(live) => Some(&live.opened),
            LedgerMode::Off(_) => None,
        }
    }

    /// Fails while calls would be refused.
    ///
    /// # Errors
    /// Why nothing can be written.
    pub fn check(&self) -> Result<(), LedgerError> {
        match &*self.0 {
            LedgerMode::On(live) => live.shared.status.check(),
            LedgerMode::Off(_) => Ok(()),
        }
    }

    /// Takes a call; its row is on the way to the disk when this returns.
    ///
    /// # Errors
    /// If nothing can be written now. The call must not start.
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
        let given = std::mem::take(&mut call.arguments);
        let arguments = link
            .store(&redacted_body::redact_arguments(&given))
            .map_err(|error| LedgerError::from_io(&error))?;
        let created = created_at.as_microsecond();
        let opening = Arc::new(CallOpening { created_at: created, call, arguments });
        let row = NewRow::new(id, Arc::clone(&opening));
        live.shared.queue.push(WriterMessage::Open(Box::new(row))).await?;
        Ok(OpenCall::new(id, created_at, opening, link))
    }

    /// Keeps an answer that came after the call was closed; the outcome stays as it is.
    ///
    /// # Errors
    /// If it could not be written.
    pub async fn store_late_answer(&self, id: CallId, answer: Bytes) -> Result<(), LedgerError> {
        let LedgerMode::On(live) = &*self.0 else { return Ok(()) };
        live.shared.status.check()?;
        let answer = answer.slice(..answer.len().min(live.result_limit));
        let (waiter, written) = oneshot::channel();
        let change =
            CallChange { id, news: RowUpdate::Late(answer), waiter: Some(waiter), landed: false };
        live.shared.queue.push(WriterMessage::Change(Box::new(change))).await?;
        wait_for_commit(written).await
    }

    /// Calls that match, newest first.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub async fn list(&self, filter: Filter) -> Result<Vec<CallSummary>, LedgerError> {
        match &*self.0 {
            LedgerMode::On(live) => live.synced_reader().await?.list(filter).await,
            LedgerMode::Off(_) => Ok(Vec::new()),
        }
    }

    /// Everything about one call.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub async fn show(&self, id: CallId) -> Result<Option<FullCall>, LedgerError> {
        match &*self.0 {
            LedgerMode::On(live) => live.synced_reader().await?.show(id).await,
            LedgerMode::Off(_) => Ok(None),
        }
    }

    /// Everything about the newest call that its caller named so.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub async fn find_by_reference(
        &self,
        reference: &str,
    ) -> Result<Option<FullCall>, LedgerError> {
        match &*self.0 {
            LedgerMode::On(live) => live.synced_reader().await?.find_by_reference(reference).await,
            LedgerMode::Off(_) => Ok(None),
        }
    }

    /// The servers that a conversation has sent something to.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub async fn targets_sent_in(
        &self,
        conversation: &str,
    ) -> Result<Vec<(String, String, u64)>, LedgerError> {
        match &*self.0 {
            LedgerMode::On(live) => live.reader.targets_sent_in(conversation).await,
            LedgerMode::Off(_) => Ok(Vec::new()),
        }
    }

    /// The whole JSON text of a call's result; none if there is none or not all of it was kept.
    ///
    /// # Errors
    /// If the file that holds it cannot be read.
    pub async fn load_result(&self, full: &FullCall) -> Result<Option<Bytes>, LedgerError> {
        let (LedgerMode::On(live), Some(result)) = (&*self.0, full.result.clone()) else {
            return Ok(None);
        };
        let results = Arc::clone(&live.results);
        let whole = tokio::task::spawn_blocking(move || result.load_whole(&results)).await;
        whole
            .map_err(|error| LedgerError::Read(error.to_string()))?
            .map_err(|error| LedgerError::Read(error.to_string()))
    }

    /// How many calls there are.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub async fn count(&self) -> Result<u64, LedgerError> {
        match &*self.0 {
            LedgerMode::On(live) => live.synced_reader().await?.count().await,
            LedgerMode::Off(_) => Ok(0),
        }
    }

    /// Writes what is on the way, lets go of the file and takes no more calls.
    pub async fn stop(&self) {
        let LedgerMode::On(live) = &*self.0 else { return };
        live.shared.queue.close();
        let thread = live.thread.lock().take();
        if let Some(thread) = thread {
            let joined = tokio::task::spawn_blocking(move || thread.join());
            // A disk that hangs must not keep the host from ending.
            let _hung = tokio::time::timeout(COMMIT_TIMEOUT, joined).await;
        }
    }

    /// For queries; none if nothing is kept.
    pub async fn reader(&self) -> Result<Option<&LedgerReader>, LedgerError> {
        match &*self.0 {
            LedgerMode::On(live) => live.synced_reader().await.map(Some),
            LedgerMode::Off(_) => Ok(None),
        }
    }

    /// For calls that write; none if nothing is kept.
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
    /// Takes a long text out of the way of the database, where that survives as much.
    pub(crate) fn store(&self, text: &Bytes) -> std::io::Result<StoredBody> {
        match self.durability {
            Durability::Process => self.bodies.store(text),
            Durability::Power => Ok(StoredBody::Inline(text.clone())),
        }
    }
}

impl LiveLedger {
    /// The reader, once the database has what was promised before.
    async fn synced_reader(&self) -> Result<&LedgerReader, LedgerError> {
        // While nothing can be written, what was written can still be read.
        if self.shared.status.check().is_ok() && self.shared.queue.len() > 0 {
            let (waiter, written) = oneshot::channel();
            self.shared.queue.force(WriterMessage::Refill(waiter));
            let _late = wait_for_commit(written).await;
        }
        Ok(&self.reader)
    }

    async fn next_id(&self) -> Result<CallId, LedgerError> {
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
        // The thread writes what is left and ends by itself.
        self.shared.queue.close();
    }
}

/// Waits for the commit of a message.
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
