//! Messages that wait to be written, and how far each of them got.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, TryAcquireError};
use tokio::time::Instant;

/// Longer messages are written by themselves: copying them costs more than another write.
const MAX_COPIED_BYTES: usize = 16 << 10;
/// As many messages that are longer than that wait at the same time: what was written down long
/// before it leaves has to be fetched from memory again, and is held there for nothing.
const MAX_LONG_MESSAGES: usize = 4;
/// As much as one write takes from the queue, unless a single message is longer.
const MAX_BATCH_BYTES: usize = 256 << 10;

/// A queue between those who send and the one task that writes.
pub(crate) struct Outbox {
    state: Mutex<OutboxState>,
    wake: Notify,
    /// Bytes that still fit; whoever waits for some gets them in order.
    room: Semaphore,
    limit_bytes: u32,
    /// Turns for long messages.
    long: Arc<Semaphore>,
}

/// A line to write, with its turn if it is a long one.
#[derive(Debug)]
pub(crate) struct OutgoingMessage {
    bytes: Vec<u8>,
    _turn: LongMessagePermit,
}

/// Lets the next long message be written down once this one leaves.
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
    /// The writer waits for something to write.
    idle: bool,
    closed: bool,
}

impl OutboxState {
    fn is_drained(&self) -> bool {
        self.closed || (self.queue.is_empty() && self.idle)
    }
}

/// How far a message got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WriteProgress {
    /// Not one byte of it has left us.
    Queued,
    /// The write that holds it has not returned.
    Writing,
    /// It has left us.
    Written,
}

/// Why a message was not taken.
#[derive(Debug)]
pub(crate) enum PushError {
    /// There is no room at the moment; here it is back.
    Full(OutgoingMessage),
    /// The connection is over.
    Closed,
}

impl Outbox {
    pub(crate) fn new(limit_bytes: usize) -> Self {
        let limit_bytes = u32::try_from(limit_bytes).unwrap_or(u32::MAX >> 4);
        let room = Semaphore::new(usize::try_from(limit_bytes).unwrap_or(Semaphore::MAX_PERMITS));
        let long = Arc::new(Semaphore::new(MAX_LONG_MESSAGES));
        Self { state: Mutex::default(), wake: Notify::new(), room, limit_bytes, long }
    }

    /// Waits for the turn of a message of about so many bytes, which is not written down before.
    pub(crate) async fn acquire_turn(&self, bytes: usize) -> Result<LongMessagePermit, PushError> {
        if bytes <= MAX_COPIED_BYTES {
            return Ok(None);
        }
        let turn = Arc::clone(&self.long).acquire_owned().await;
        turn.map(Some).map_err(|_| PushError::Closed)
    }

    /// Queues a line if there is room at once, and returns its number.
    pub(crate) fn push(&self, message: impl Into<OutgoingMessage>) -> Result<u64, PushError> {
        let message = message.into();
        match self.room.try_acquire_many(self.room_for(&message)) {
            Ok(room) => {
                room.forget();
                self.enqueue(message)
            }
            Err(TryAcquireError::NoPermits) => Err(PushError::Full(message)),
            Err(TryAcquireError::Closed) => Err(PushError::Closed),
        }
    }

    /// Queues a line as soon as there is room, and returns its number.
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

    /// The room that a message takes; one that is larger than all there is takes all of it.
    fn room_for(&self, message: &OutgoingMessage) -> u32 {
        u32::try_from(message.bytes.len()).unwrap_or(u32::MAX).min(self.limit_bytes)
    }

    fn release_room(&self, room: u32) {
        self.room.add_permits(usize::try_from(room).unwrap_or(0));
    }

    /// How far message `number` got.
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

    /// Takes back a message of which nothing has left us.
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

    /// Fills `batch` with what is to be written next; `None` when the connection is over.
    ///
    /// Where `is_crowded`, others are about to send as well and get the chance to: one write for
    /// many messages, and the other side is woken once. Somebody who is alone would only wait.
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
            if is_crowded() {
                tokio::task::yield_now().await;
            }
        }
    }

    /// Waits until everything that was queued has left us, within `limit`.
    pub(crate) async fn flush(&self, limit: Duration) {
        let end = Instant::now() + limit;
        while Instant::now() < end {
            if self.state.lock().is_drained() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    /// Ends the queue; what is still in it will never be written.
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
