//! The bounded way from many calls to the one thread that writes.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex, MutexGuard};
use tokio::sync::{Semaphore, TryAcquireError};

use crate::error::LedgerError;
use crate::group::WriterMessage;

/// How many new calls may wait to be written.
const MAX_QUEUED_CALLS: usize = 4096;
/// How long a new call waits for room.
const ENQUEUE_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a message that nobody waits for may lie, so that it shares a commit with the next one.
const BATCH_WINDOW: Duration = Duration::from_millis(50);

/// New calls need room; what belongs to a call that is already open never does, because a call has
/// at most one such message on its way and must not lose its outcome.
#[derive(Debug)]
pub(crate) struct WriteQueue {
    inner: Mutex<WriteQueueState>,
    ready: Condvar,
    room: Semaphore,
}

#[derive(Debug, Default)]
struct WriteQueueState {
    messages: VecDeque<QueuedMessage>,
    closed: bool,
    asleep: bool,
    /// How many messages inside are waited for.
    urgent: usize,
}

#[derive(Debug)]
struct QueuedMessage {
    message: WriterMessage,
    has_room: bool,
}

/// What the writer finds when it looks.
#[derive(Debug)]
pub(crate) enum QueueTake {
    /// At least one message, in the order in which they came.
    Messages(Vec<WriterMessage>),
    /// Nothing came in the given time.
    Nothing,
    /// Nothing is left and nothing will come.
    Closed,
}

impl WriteQueue {
    pub(crate) fn new() -> Self {
        Self {
            inner: Mutex::new(WriteQueueState::default()),
            ready: Condvar::new(),
            room: Semaphore::new(MAX_QUEUED_CALLS),
        }
    }

    /// Adds a message of a new call; waits a while if there is no room.
    pub(crate) async fn push(&self, message: WriterMessage) -> Result<(), LedgerError> {
        let permit = match self.room.try_acquire() {
            Ok(permit) => permit,
            Err(TryAcquireError::Closed) => return Err(LedgerError::writer_stopped()),
            Err(TryAcquireError::NoPermits) => {
                match tokio::time::timeout(ENQUEUE_TIMEOUT, self.room.acquire()).await {
                    Ok(Ok(permit)) => permit,
                    Ok(Err(_)) => return Err(LedgerError::writer_stopped()),
                    Err(_) => return Err(LedgerError::queue_full()),
                }
            }
        };
        permit.forget();
        self.add(QueuedMessage { message, has_room: true });
        Ok(())
    }

    /// Adds a message of a call that is already open, without waiting.
    pub(crate) fn force(&self, message: WriterMessage) {
        self.add(QueuedMessage { message, has_room: false });
    }

    /// Takes up to `most` messages; with `wait`, gives up after that time.
    pub(crate) fn take(&self, most: usize, wait: Option<Duration>) -> QueueTake {
        let mut deadline = wait.map(|wait| Instant::now() + wait);
        let mut patient = false;
        let mut inner = self.lock();
        while inner.urgent == 0 {
            if inner.closed && inner.messages.is_empty() {
                return QueueTake::Closed;
            }
            if inner.closed || inner.messages.len() >= most {
                break;
            }
            if !inner.messages.is_empty() && !patient {
                patient = true;
                let end = Instant::now() + BATCH_WINDOW;
                deadline = Some(deadline.map_or(end, |deadline| deadline.min(end)));
            }
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                break;
            }
            self.sleep(&mut inner, left);
        }
        let count = inner.messages.len().min(most);
        if count == 0 {
            return QueueTake::Nothing;
        }
        let entries: Vec<QueuedMessage> = inner.messages.drain(..count).collect();
        inner.urgent -= entries.iter().filter(|entry| entry.message.is_urgent()).count();
        drop(inner);
        self.room.add_permits(entries.iter().filter(|entry| entry.has_room).count());
        QueueTake::Messages(entries.into_iter().map(|entry| entry.message).collect())
    }

    /// How many messages are inside.
    pub(crate) fn len(&self) -> usize {
        self.lock().messages.len()
    }

    /// Takes no more messages; those inside can still be taken out.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.room.close();
        self.ready.notify_one();
    }

    /// Drops what is left, which tells all who wait that nothing will be written.
    pub(crate) fn abandon(&self) {
        self.close();
        let mut inner = self.lock();
        let left = std::mem::take(&mut inner.messages);
        inner.urgent = 0;
        drop(inner);
        drop(left);
    }

    fn add(&self, entry: QueuedMessage) {
        let urgent = entry.message.is_urgent();
        let mut inner = self.lock();
        if inner.closed {
            return;
        }
        // The first message of any kind starts the clock of the writer.
        let wake = inner.asleep && (urgent || inner.messages.is_empty());
        inner.urgent += usize::from(urgent);
        inner.messages.push_back(entry);
        drop(inner);
        if wake {
            self.ready.notify_one();
        }
    }

    fn sleep(&self, inner: &mut MutexGuard<'_, WriteQueueState>, limit: Option<Duration>) {
        inner.asleep = true;
        match limit {
            None => self.ready.wait(inner),
            Some(limit) => {
                // The caller looks at the queue again either way.
                self.ready.wait_for(inner, limit);
            }
        }
        inner.asleep = false;
    }

    fn lock(&self) -> MutexGuard<'_, WriteQueueState> {
        self.inner.lock()
    }
}
