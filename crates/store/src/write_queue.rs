//! The bounded queue between calls and the writer thread.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex, MutexGuard};
use tokio::sync::{Semaphore, TryAcquireError};

use crate::error::LedgerError;
use crate::group::WriterMessage;

/// Maximum number of new calls in the queue; bounds the memory while the disk is slow.
const MAX_QUEUED_CALLS: usize = 4096;
/// How long a new call waits for space in the queue before it is refused.
const ENQUEUE_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a message without a waiter may stay queued, so that it shares a commit with later ones.
const BATCH_WINDOW: Duration = Duration::from_millis(50);

/// The messages for the writer. Only new calls count towards the limit: an open call has at most
/// one message in the queue, and its outcome must not be lost.
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
    /// Number of queued messages with a waiter.
    urgent: usize,
}

#[derive(Debug)]
struct QueuedMessage {
    message: WriterMessage,
    has_room: bool,
}

#[derive(Debug)]
pub(crate) enum QueueTake {
    /// At least one message, in the order of arrival.
    Messages(Vec<WriterMessage>),
    Nothing,
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

    /// Adds a message of a new call. Waits up to [`ENQUEUE_TIMEOUT`] if the queue is full.
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
        // `take` returns the permit once the message has left the queue.
        permit.forget();
        self.add(QueuedMessage { message, has_room: true });
        Ok(())
    }

    /// Adds a message of a call that is already open, without waiting.
    pub(crate) fn force(&self, message: WriterMessage) {
        self.add(QueuedMessage { message, has_room: false });
    }

    /// Takes up to `most` messages, waiting for the first one no longer than `wait`.
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
            // Give other messages time to arrive, so that they share the commit.
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
        // Woken calls push at once, which needs this lock.
        drop(inner);
        self.room.add_permits(entries.iter().filter(|entry| entry.has_room).count());
        QueueTake::Messages(entries.into_iter().map(|entry| entry.message).collect())
    }

    pub(crate) fn len(&self) -> usize {
        self.lock().messages.len()
    }

    /// Closes the queue for new messages. Queued ones can still be taken.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.room.close();
        self.ready.notify_one();
    }

    /// Closes the queue and drops its messages, so that every waiting call gets an error.
    pub(crate) fn abandon(&self) {
        self.close();
        let mut inner = self.lock();
        let left = std::mem::take(&mut inner.messages);
        inner.urgent = 0;
        // Dropping a waiter wakes its call, which should not have to wait for this lock.
        drop(inner);
        drop(left);
    }

    fn add(&self, entry: QueuedMessage) {
        let urgent = entry.message.is_urgent();
        let mut inner = self.lock();
        // The message is dropped, and its waiter reports that the writer has stopped.
        if inner.closed {
            return;
        }
        // The first message of any kind starts the batch window of the writer.
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
                // The caller checks the queue again either way.
                self.ready.wait_for(inner, limit);
            }
        }
        inner.asleep = false;
    }

    fn lock(&self) -> MutexGuard<'_, WriteQueueState> {
        self.inner.lock()
    }
}
