//! The queue of outgoing messages, with the write progress of each.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, TryAcquireError};
use tokio::time::Instant;

/// Maximum length of a message that is copied into a batch. Longer messages are written separately,
/// since copying them costs more than another write.
const MAX_COPIED_BYTES: usize = 16 << 10;
/// Maximum number of longer messages in the queue. A message that is serialized long before its
/// write occupies memory needlessly and has left the CPU cache by then.
const MAX_LONG_MESSAGES: usize = 4;
/// Maximum bytes per write, unless a single message is longer.
const MAX_BATCH_BYTES: usize = 256 << 10;

pub(crate) struct Outbox {
    state: Mutex<OutboxState>,
    wake: Notify,
    /// Free bytes in the queue, granted in order.
    room: Semaphore,
    limit_bytes: u32,
    /// Permits for long messages.
    long: Arc<Semaphore>,
}

/// A line to write, with its permit if it is long.
#[derive(Debug)]
pub(crate) struct OutgoingMessage {
    bytes: Vec<u8>,
    _turn: LongMessagePermit,
}

/// Permit for a long message. The next long message is serialized once it is released.
pub(crate) type LongMessagePermit = Option<OwnedSemaphorePermit>;

impl OutgoingMessage {
    pub(crate) const fn new(bytes: Vec<u8>, turn: LongMessagePermit) -> Self {
        Self { bytes, _turn: turn }
    }
}

impl From<Vec<u8>> for OutgoingMessage {
    fn from(bytes: Vec<u8>) -> Self {
        Self::new(bytes, None)
    }
}

#[derive(Default)]
struct OutboxState {
    queue: VecDeque<(u64, OutgoingMessage)>,
    last: u64,
    taken: u64,
    written: u64,
    /// Whether the writer is waiting for messages.
    idle: bool,
    closed: bool,
}

impl OutboxState {
    fn is_drained(&self) -> bool {
        self.closed || (self.queue.is_empty() && self.idle)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WriteProgress {
    /// No byte was sent.
    Queued,
    /// The write that contains the message has not returned.
    Writing,
    Written,
}

/// The reason why a message was not queued.
#[derive(Debug)]
pub(crate) enum PushError {
    /// The queue is full; returns the message.
    Full(OutgoingMessage),
    Closed,
}

impl Outbox {
    pub(crate) fn new(limit_bytes: usize) -> Self {
        let limit_bytes = u32::try_from(limit_bytes).unwrap_or(u32::MAX >> 4);
        let room = Semaphore::new(usize::try_from(limit_bytes).unwrap_or(Semaphore::MAX_PERMITS));
        let long = Arc::new(Semaphore::new(MAX_LONG_MESSAGES));
        Self { state: Mutex::default(), wake: Notify::new(), room, limit_bytes, long }
    }

    /// Waits for a permit if the message is long. Callers serialize the message afterwards.
    pub(crate) async fn acquire_turn(&self, bytes: usize) -> Result<LongMessagePermit, PushError> {
        if bytes <= MAX_COPIED_BYTES {
            return Ok(None);
        }
        let turn = Arc::clone(&self.long).acquire_owned().await;
        turn.map(Some).map_err(|_| PushError::Closed)
    }

    /// Queues a line if there is room, and returns its number.
    pub(crate) fn push(&self, message: impl Into<OutgoingMessage>) -> Result<u64, PushError> {
        let message = message.into();
        match self.room.try_acquire_many(self.room_for(&message)) {
            Ok(room) => {
                // Released when the message leaves the queue, not when this function returns.
                room.forget();
                self.enqueue(message)
            }
            Err(TryAcquireError::NoPermits) => Err(PushError::Full(message)),
            Err(TryAcquireError::Closed) => Err(PushError::Closed),
        }
    }

    /// Waits for room, queues a line, and returns its number.
    pub(crate) async fn push_when_room(
        &self,
        message: impl Into<OutgoingMessage>,
    ) -> Result<u64, PushError> {
        let message = message.into();
        match self.room.acquire_many(self.room_for(&message)).await {
            Ok(room) => {
                room.forget();
                self.enqueue(message)
            }
            Err(_) => Err(PushError::Closed),
        }
    }

    fn enqueue(&self, message: OutgoingMessage) -> Result<u64, PushError> {
        let mut state = self.state.lock();
        if state.closed {
            return Err(PushError::Closed);
        }
        state.last += 1;
        let number = state.last;
        state.queue.push_back((number, message));
        drop(state);
        self.wake.notify_one();
        Ok(number)
    }

    /// Returns the room that a message takes. A message larger than the queue takes all of it.
    fn room_for(&self, message: &OutgoingMessage) -> u32 {
        u32::try_from(message.bytes.len()).unwrap_or(u32::MAX).min(self.limit_bytes)
    }

    fn release_room(&self, room: u32) {
        self.room.add_permits(usize::try_from(room).unwrap_or(0));
    }

    pub(crate) fn progress(&self, number: u64) -> WriteProgress {
        let state = self.state.lock();
        if number > state.taken {
            WriteProgress::Queued
        } else if number > state.written {
            WriteProgress::Writing
        } else {
            WriteProgress::Written
        }
    }

    /// Removes a message from the queue; returns `false` if its write has started.
    pub(crate) fn cancel(&self, number: u64) -> bool {
        let mut state = self.state.lock();
        let Some(at) = state.queue.iter().position(|(queued, _)| *queued == number) else {
            return false;
        };
        if let Some((_, message)) = state.queue.remove(at) {
            self.release_room(self.room_for(&message));
        }
        true
    }

    /// Fills `batch` with the next bytes to write; returns `None` if the connection has ended.
    ///
    /// If `is_crowded`, more messages are about to come, and the writer yields once to collect them.
    pub(crate) async fn next_batch(
        &self,
        batch: &mut Vec<u8>,
        is_crowded: impl Fn() -> bool,
    ) -> Option<()> {
        loop {
            let mut freed = 0;
            {
                let mut state = self.state.lock();
                if state.closed {
                    return None;
                }
                // The writer asks for more only after the previous batch was written.
                state.written = state.taken;
                state.idle = state.queue.is_empty();
                batch.clear();
                while let Some((number, message)) = state.queue.pop_front() {
                    if !batch.is_empty() && message.bytes.len() > MAX_COPIED_BYTES {
                        state.queue.push_front((number, message));
                        break;
                    }
                    freed += self.room_for(&message);
                    state.taken = number;
                    // The first message becomes the batch without a copy.
                    if batch.is_empty() {
                        *batch = message.bytes;
                    } else {
                        batch.extend_from_slice(&message.bytes);
                    }
                    if batch.len() >= MAX_BATCH_BYTES {
                        break;
                    }
                }
            }
            if !batch.is_empty() {
                self.release_room(freed);
                return Some(());
            }
            self.wake.notified().await;
            // One write for many messages also wakes the other side once. A single sender gains
            // nothing and would only be delayed.
            if is_crowded() {
                tokio::task::yield_now().await;
            }
        }
    }

    /// Waits until all queued messages are written, at most for `limit`.
    pub(crate) async fn flush(&self, limit: Duration) {
        let end = Instant::now() + limit;
        while Instant::now() < end {
            if self.state.lock().is_drained() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    /// Closes the queue; messages still in it are never written.
    pub(crate) fn close(&self) {
        self.state.lock().closed = true;
        self.room.close();
        self.long.close();
        self.wake.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::{
        MAX_COPIED_BYTES, MAX_LONG_MESSAGES, Outbox, OutgoingMessage, PushError, WriteProgress,
    };

    #[tokio::test]
    async fn a_message_is_followed_from_the_queue_to_the_pipe() {
        let outbox = Outbox::new(8);
        let first = outbox.push(b"aaaa\n".to_vec()).unwrap();
        let Err(PushError::Full(back)) = outbox.push(b"bbbb\n".to_vec()) else { panic!() };
        assert_eq!(back.bytes, b"bbbb\n");
        assert_eq!(outbox.progress(first), WriteProgress::Queued);
        let mut batch = Vec::new();
        outbox.next_batch(&mut batch, || false).await.unwrap();
        assert_eq!(
            (batch.as_slice(), outbox.progress(first)),
            (&b"aaaa\n"[..], WriteProgress::Writing)
        );
        let second = outbox.push(b"cc\n".to_vec()).unwrap();
        let third = outbox.push(b"dd\n".to_vec()).unwrap();
        assert!(outbox.cancel(second));
        assert!(!outbox.cancel(first));
        outbox.next_batch(&mut batch, || false).await.unwrap();
        assert_eq!(batch, b"dd\n");
        assert_eq!(outbox.progress(first), WriteProgress::Written);
        assert_eq!(outbox.progress(third), WriteProgress::Writing);
        outbox.close();
        assert!(matches!(outbox.push(b"e\n".to_vec()), Err(PushError::Closed)));
        assert_eq!(outbox.next_batch(&mut batch, || false).await, None);
    }

    #[tokio::test]
    async fn few_long_messages_wait_at_once_and_short_ones_need_no_turn() {
        let outbox = Outbox::new(1 << 20);
        let long = || vec![b'x'; MAX_COPIED_BYTES + 1];
        for _ in 0..MAX_LONG_MESSAGES {
            let turn = outbox.acquire_turn(long().len()).await.unwrap();
            outbox.push(OutgoingMessage::new(long(), turn)).unwrap();
        }
        assert!(outbox.acquire_turn(MAX_COPIED_BYTES).await.unwrap().is_none());
        assert_eq!(outbox.long.available_permits(), 0);
        let mut batch = Vec::new();
        outbox.next_batch(&mut batch, || false).await.unwrap();
        assert!(outbox.acquire_turn(long().len()).await.unwrap().is_some(), "one has left");
        assert!(outbox.cancel(2), "and one is given up");
        assert_eq!(outbox.long.available_permits(), 2);
        outbox.close();
        assert!(matches!(outbox.acquire_turn(long().len()).await, Err(PushError::Closed)));
    }
}
