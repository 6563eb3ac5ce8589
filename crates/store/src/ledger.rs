//! The handle on the ledger: opens calls, stores late answers, answers queries.

use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use bytes::Bytes;
use jiff::Timestamp;
use switchboard_core::{Durability, Timelines};
use tokio::sync::oneshot;

use crate::bodies::{Bodies, Body};
use crate::call_id::CallId;
use crate::entry::{NewCall, Opened};
use crate::error::LedgerError;
use crate::file::folder_of;
use crate::file_error::FileError;
use crate::filter::Filter;
use crate::group::{Change, Details, Message, NewRow, News, Opening};
use crate::ids::Ids;
use crate::journal::Journal;
use crate::open_call::OpenCall;
use crate::reader::{Full, Reader, Summary};
use crate::startup::{Started, start};
use crate::status::Status;
use crate::write_queue::Queue;
use crate::writer::{Shared, Writer};
use crate::{redacted_body, startup};

/// How long a call waits for the disk.
pub(crate) const DISK_WAIT: Duration = Duration::from_secs(15);

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
pub struct Ledger(Arc<Mode>);

#[derive(Debug)]
enum Mode {
    On(Live),
    Off(AtomicI64),
}

#[derive(Debug)]
struct Live {
    shared: Arc<Shared>,
    reader: Reader,
    opened: Opened,
    results: Arc<Path>,
    result_limit: usize,
    durability: Durability,
    bodies: Arc<Bodies>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// What an open call needs of a ledger that writes.
#[derive(Debug, Clone)]
pub(crate) struct Link {
    pub ledger: Ledger,
    pub shared: Arc<Shared>,
    pub results: Arc<Path>,
    pub(crate) result_limit: usize,
    pub durability: Durability,
    pub bodies: Arc<Bodies>,
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
        let Started { connection, owner, block, opened } = start(path, options)?;
        let shared = Arc::new(Shared {
            queue: Queue::new(),
            status: Status::of(path),
            ids: Ids::new(block),
            journal: match options.durability {
                Durability::Process => Some(Journal::beside(path, owner.name())),
                Durability::Power => None,
            },
            timelines: Timelines::default(),
        });
        let bodies = Bodies::new(startup::bodies(path), owner.name());
        let reader = Reader::of_process(path, owner.name());
        let writer = Writer::new(path.to_owned(), connection, owner, Arc::clone(&shared));
        let thread = std::thread::Builder::new()
            .name("ledger".to_owned())
            .spawn(move || writer.run())
            .map_err(|error| FileError::from_folder(path, &error))?;
        Ok(Self(Arc::new(Mode::On(Live {
            shared,
            reader,
            opened,
            results: folder_of(path).join("results").into(),
            result_limit: options.result_limit.max(2),
            durability: options.durability,
            bodies: Arc::new(bodies),
            thread: Mutex::new(Some(thread)),
        }))))
    }

    /// A ledger that keeps nothing: calls only get their record back.
    #[must_use]
    pub fn off() -> Self {
        Self(Arc::new(Mode::Off(AtomicI64::new(1))))
    }

    /// What happened while it was opened; none if nothing is kept.
    #[must_use]
    pub fn opened(&self) -> Option<&Opened> {
        match &*self.0 {
            Mode::On(live) => Some(&live.opened),
            Mode::Off(_) => None,
        }
    }

    /// What happens to calls that are under way, for whoever sees it happen.
    #[must_use]
    pub fn timelines(&self) -> &Timelines {
        static OFF: Timelines = Timelines::off();
        match &*self.0 {
            Mode::On(live) => &live.shared.timelines,
            Mode::Off(_) => &OFF,
        }
    }

    /// Fails while calls would be refused.
    ///
    /// # Errors
    /// Why nothing can be written.
    pub fn check(&self) -> Result<(), LedgerError> {
        match &*self.0 {
            Mode::On(live) => live.shared.status.check(),
            Mode::Off(_) => Ok(()),
        }
    }

    /// Takes a call; its row is on the way to the disk when this returns.
    ///
    /// # Errors
    /// If nothing can be written now. The call must not start.
    pub async fn open_call(&self, mut call: NewCall) -> Result<OpenCall, LedgerError> {
        let created_at = Timestamp::now();
        let live = match &*self.0 {
            Mode::On(live) => live,
            Mode::Off(next) => {
                let id = CallId(next.fetch_add(1, Ordering::Relaxed));
                return Ok(OpenCall::unrecorded(id, created_at));
            }
        };
        live.shared.status.check()?;
        let id = live.next_id().await?;
        let link = self.link(live);
        let given = std::mem::take(&mut call.arguments);
        let arguments = link
            .keep(&redacted_body::arguments(&given))
            .map_err(|error| LedgerError::from_io(&error))?;
        let created = created_at.as_microsecond();
        let opening = Arc::new(Opening { created_at: created, call, arguments });
        let row = NewRow {
            id,
            opening: Arc::clone(&opening),
            details: Details::default(),
            intent: None,
            close: None,
            waiters: Vec::new(),
            is_held_back: false,
            digest: None,
        };
        live.shared.queue.push(Message::Open(Box::new(row))).await?;
        Ok(OpenCall::new(id, created_at, opening, link))
    }

    /// Keeps an answer that came after the call was closed; the outcome stays as it is.
    ///
    /// # Errors
    /// If it could not be written.
    pub async fn late(&self, id: CallId, answer: Bytes) -> Result<(), LedgerError> {
        let Mode::On(live) = &*self.0 else { return Ok(()) };
        live.shared.status.check()?;
        let answer = answer.slice(..answer.len().min(live.result_limit));
        let (waiter, written) = oneshot::channel();
        let change = Change { id, news: News::Late(answer), waiter: Some(waiter), landed: false };
        live.shared.queue.push(Message::Change(Box::new(change))).await?;
        wait_for(written).await
    }

    /// Calls that match, newest first.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub async fn list(&self, filter: Filter) -> Result<Vec<Summary>, LedgerError> {
        match &*self.0 {
            Mode::On(live) => live.read().await?.list(filter).await,
            Mode::Off(_) => Ok(Vec::new()),
        }
    }

    /// Everything about one call.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub async fn show(&self, id: CallId) -> Result<Option<Full>, LedgerError> {
        match &*self.0 {
            Mode::On(live) => live.read().await?.show(id).await,
            Mode::Off(_) => Ok(None),
        }
    }

    /// Everything about the newest call that its caller named so.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub async fn by_reference(&self, reference: &str) -> Result<Option<Full>, LedgerError> {
        match &*self.0 {
            Mode::On(live) => live.read().await?.by_reference(reference).await,
            Mode::Off(_) => Ok(None),
        }
    }

    /// The servers that a conversation has sent something to.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub async fn sent_in(
        &self,
        conversation: &str,
    ) -> Result<Vec<(String, String, u64)>, LedgerError> {
        match &*self.0 {
            Mode::On(live) => live.reader.sent_in(conversation).await,
            Mode::Off(_) => Ok(Vec::new()),
        }
    }

    /// The whole JSON text of a call's result; none if there is none or not all of it was kept.
    ///
    /// # Errors
    /// If the file that holds it cannot be read.
    pub async fn result_of(&self, full: &Full) -> Result<Option<Bytes>, LedgerError> {
        let (Mode::On(live), Some(result)) = (&*self.0, full.result.clone()) else {
            return Ok(None);
        };
        let results = Arc::clone(&live.results);
        let whole = tokio::task::spawn_blocking(move || result.whole(&results)).await;
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
            Mode::On(live) => live.read().await?.count().await,
            Mode::Off(_) => Ok(0),
        }
    }

    /// Writes what is on the way, lets go of the file and takes no more calls.
    pub async fn stop(&self) {
        let Mode::On(live) = &*self.0 else { return };
        live.shared.queue.close();
        let thread = live.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            let joined = tokio::task::spawn_blocking(move || thread.join());
            // A disk that hangs must not keep the host from ending.
            let _hung = tokio::time::timeout(DISK_WAIT, joined).await;
        }
    }

    /// For queries; none if nothing is kept.
    pub async fn reader(&self) -> Result<Option<&Reader>, LedgerError> {
        match &*self.0 {
            Mode::On(live) => live.read().await.map(Some),
            Mode::Off(_) => Ok(None),
        }
    }

    /// For calls that write; none if nothing is kept.
    pub(crate) fn writing(&self) -> Option<Link> {
        match &*self.0 {
            Mode::On(live) => Some(self.link(live)),
            Mode::Off(_) => None,
        }
    }

    fn link(&self, live: &Live) -> Link {
        Link {
            ledger: self.clone(),
            shared: Arc::clone(&live.shared),
            results: Arc::clone(&live.results),
            result_limit: live.result_limit,
            durability: live.durability,
            bodies: Arc::clone(&live.bodies),
        }
    }
}

impl Link {
    /// Takes a long text out of the way of the database, where that survives as much.
    pub(crate) fn keep(&self, text: &Bytes) -> std::io::Result<Body> {
        match self.durability {
            Durability::Process => self.bodies.keep(text),
            Durability::Power => Ok(Body::Here(text.clone())),
        }
    }
}

impl Live {
    /// The reader, once the database has what was promised before.
    async fn read(&self) -> Result<&Reader, LedgerError> {
        // While nothing can be written, what was written can still be read.
        if self.shared.status.check().is_ok() && self.shared.queue.len() > 0 {
            let (waiter, written) = oneshot::channel();
            self.shared.queue.force(Message::Refill(waiter));
            let _late = wait_for(written).await;
        }
        Ok(&self.reader)
    }

    async fn next_id(&self) -> Result<CallId, LedgerError> {
        let deadline = Instant::now() + DISK_WAIT;
        loop {
            if let Some(id) = self.shared.ids.take() {
                return Ok(id);
            }
            if Instant::now() >= deadline {
                return Err(LedgerError::overloaded());
            }
            let (waiter, written) = oneshot::channel();
            self.shared.queue.push(Message::Refill(waiter)).await?;
            wait_for(written).await?;
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        // The thread writes what is left and ends by itself.
        self.shared.queue.close();
    }
}

/// Waits for the commit of a message.
pub(crate) async fn wait_for(
    written: oneshot::Receiver<Result<(), LedgerError>>,
) -> Result<(), LedgerError> {
    match tokio::time::timeout(DISK_WAIT, written).await {
        Ok(Ok(result)) => result,
        Ok(Err(_)) => Err(LedgerError::stopped()),
        Err(_) => Err(LedgerError::slow()),
    }
}

#[cfg(test)]
#[path = "ledger_tests.rs"]
pub(crate) mod tests;
