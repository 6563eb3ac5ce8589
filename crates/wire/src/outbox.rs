//! Messages that wait to be written, and how far each of them got.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, TryAcquireError};
use tokio::time::Instant;

/// Longer messages are written by themselves: copying them costs more than another write.
const COPIED_BYTES: usize = 16 << 10;
/// As many messages that are longer than that wait at the same time: what was written down long
/// before it leaves has to be fetched from memory again, and is held there for nothing.
const LONG_MESSAGES: usize = 4;
/// As much as one write takes from the queue, unless a single message is longer.
const BATCH_BYTES: usize = 256 << 10;

/// A queue between those who send and the one task that writes.
pub(crate) struct Outbox {
    state: Mutex<State>,
    wake: Notify,
    /// Bytes that still fit; whoever waits for some gets them in order.
    room: Semaphore,
    limit_bytes: u32,
    /// Turns for long messages.
    long: Arc<Semaphore>,
}

/// A line to write, with its turn if it is a long one.
#[derive(Debug)]
pub(crate) struct Outgoing {
    bytes: Vec<u8>,
    _turn: Turn,
}

/// Lets the next long message be written down once this one leaves.
pub(crate) type Turn = Option<OwnedSemaphorePermit>;

impl Outgoing {
    pub(crate) const fn new(bytes: Vec<u8>, turn: Turn) -> Self {
        Self { bytes, _turn: turn }
    }
}

impl From<Vec<u8>> for Outgoing {
    fn from(bytes: Vec<u8>) -> Self {
        Self::new(bytes, None)
    }
}

#[derive(Default)]
struct State {
    queue: VecDeque<(u64, Outgoing)>,
    last: u64,
    taken: u64,
    written: u64,
    /// The writer waits for something to write.
    idle: bool,
    closed: bool,
}

impl State {
    fn has_nothing_left(&self) -> bool {
        self.closed || (self.queue.is_empty() && self.idle)
    }
}

/// How far a message got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// Not one byte of it has left us.
    Queued,
    /// The write that holds it has not returned.
    Writing,
    /// It has left us.
    Written,
}

/// Why a message was not taken.
#[derive(Debug)]
pub(crate) enum NotTaken {
    /// There is no room at the moment; here it is back.
    Full(Outgoing),
    /// The connection is over.
    Closed,
}

impl Outbox {
    pub(crate) fn new(limit_bytes: usize) -> Self {
        let limit_bytes = u32::try_from(limit_bytes).unwrap_or(u32::MAX >> 4);
        let room = Semaphore::new(usize::try_from(limit_bytes).unwrap_or(Semaphore::MAX_PERMITS));
        let long = Arc::new(Semaphore::new(LONG_MESSAGES));
        Self { state: Mutex::default(), wake: Notify::new(), room, limit_bytes, long }
    }

    /// Waits for the turn of a message of about so many bytes, which is not written down before.
    pub(crate) async fn turn(&self, bytes: usize) -> Result<Turn, NotTaken> {
        if bytes <= COPIED_BYTES {
            return Ok(None);
        }
        let turn = Arc::clone(&self.long).acquire_owned().await;
        turn.map(Some).map_err(|_| NotTaken::Closed)
    }

    /// Queues a line if there is room at once, and returns its number.
    pub(crate) fn push(&self, message: impl Into<Outgoing>) -> Result<u64, NotTaken> {
        let message = message.into();
        match self.room.try_acquire_many(self.size_of(&message)) {
            Ok(room) => {
                room.forget();
                self.take_in(message)
            }
            Err(TryAcquireError::NoPermits) => Err(NotTaken::Full(message)),
            Err(TryAcquireError::Closed) => Err(NotTaken::Closed),
        }
    }

    /// Queues a line as soon as there is room, and returns its number.
    pub(crate) async fn push_soon(&self, message: impl Into<Outgoing>) -> Result<u64, NotTaken> {
        let message = message.into();
        match self.room.acquire_many(self.size_of(&message)).await {
            Ok(room) => {
                room.forget();
                self.take_in(message)
            }
            Err(_) => Err(NotTaken::Closed),
        }
    }

    fn take_in(&self, message: Outgoing) -> Result<u64, NotTaken> {
        let mut state = self.state();
        if state.closed {
            return Err(NotTaken::Closed);
        }
        state.last += 1;
        let number = state.last;
        state.queue.push_back((number, message));
        drop(state);
        self.wake.notify_one();
        Ok(number)
    }

    /// The room that a message takes; one that is larger than all there is takes all of it.
    fn size_of(&self, message: &Outgoing) -> u32 {
        u32::try_from(message.bytes.len()).unwrap_or(u32::MAX).min(self.limit_bytes)
    }

    fn give_back(&self, room: u32) {
        self.room.add_permits(usize::try_from(room).unwrap_or(0));
    }

    /// How far message `number` got.
    pub(crate) fn progress(&self, number: u64) -> Progress {
        let state = self.state();
        if number > state.taken {
            Progress::Queued
        } else if number > state.written {
            Progress::Writing
        } else {
            Progress::Written
        }
    }

    /// Takes back a message of which nothing has left us.
    pub(crate) fn take_back(&self, number: u64) -> bool {
        let mut state = self.state();
        let Some(at) = state.queue.iter().position(|(queued, _)| *queued == number) else {
            return false;
        };
        if let Some((_, message)) = state.queue.remove(at) {
            self.give_back(self.size_of(&message));
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
                let mut state = self.state();
                if state.closed {
                    return None;
                }
                state.written = state.taken;
                state.idle = state.queue.is_empty();
                batch.clear();
                while let Some((number, message)) = state.queue.pop_front() {
                    if !batch.is_empty() && message.bytes.len() > COPIED_BYTES {
                        state.queue.push_front((number, message));
                        break;
                    }
                    freed += self.size_of(&message);
                    state.taken = number;
                    if batch.is_empty() {
                        *batch = message.bytes;
                    } else {
                        batch.extend_from_slice(&message.bytes);
                    }
                    if batch.len() >= BATCH_BYTES {
                        break;
                    }
                }
            }
            if !batch.is_empty() {
                self.give_back(freed);
                return Some(());
            }
            self.wake.notified().await;
            if is_crowded() {
                tokio::task::yield_now().await;
            }
        }
    }

    /// Waits until everything that was queued has left us, within `limit`.
    pub(crate) async fn flushed(&self, limit: Duration) {
        let end = Instant::now() + limit;
        while Instant::now() < end {
            if self.state().has_nothing_left() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    /// Ends the queue; what is still in it will never be written.
    pub(crate) fn close(&self) {
        self.state().closed = true;
        self.room.close();
        self.long.close();
        self.wake.notify_one();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::{COPIED_BYTES, LONG_MESSAGES, NotTaken, Outbox, Outgoing, Progress};

    #[tokio::test]
    async fn a_message_is_followed_from_the_queue_to_the_pipe() {
        let outbox = Outbox::new(8);
        let first = outbox.push(b"aaaa\n".to_vec()).unwrap();
        let Err(NotTaken::Full(back)) = outbox.push(b"bbbb\n".to_vec()) else { panic!() };
        assert_eq!(back.bytes, b"bbbb\n");
        assert_eq!(outbox.progress(first), Progress::Queued);
        let mut batch = Vec::new();
        outbox.next_batch(&mut batch, || false).await.unwrap();
        assert_eq!((batch.as_slice(), outbox.progress(first)), (&b"aaaa\n"[..], Progress::Writing));
        let second = outbox.push(b"cc\n".to_vec()).unwrap();
        let third = outbox.push(b"dd\n".to_vec()).unwrap();
        assert!(outbox.take_back(second));
        assert!(!outbox.take_back(first));
        outbox.next_batch(&mut batch, || false).await.unwrap();
        assert_eq!(batch, b"dd\n");
        assert_eq!(outbox.progress(first), Progress::Written);
        assert_eq!(outbox.progress(third), Progress::Writing);
        outbox.close();
        assert!(matches!(outbox.push(b"e\n".to_vec()), Err(NotTaken::Closed)));
        assert_eq!(outbox.next_batch(&mut batch, || false).await, None);
    }

    #[tokio::test]
    async fn few_long_messages_wait_at_once_and_short_ones_need_no_turn() {
        let outbox = Outbox::new(1 << 20);
        let long = || vec![b'x'; COPIED_BYTES + 1];
        for _ in 0..LONG_MESSAGES {
            let turn = outbox.turn(long().len()).await.unwrap();
            outbox.push(Outgoing::new(long(), turn)).unwrap();
        }
        assert!(outbox.turn(COPIED_BYTES).await.unwrap().is_none());
        assert_eq!(outbox.long.available_permits(), 0);
        let mut batch = Vec::new();
        outbox.next_batch(&mut batch, || false).await.unwrap();
        assert!(outbox.turn(long().len()).await.unwrap().is_some(), "one has left");
        assert!(outbox.take_back(2), "and one is given up");
        assert_eq!(outbox.long.available_permits(), 2);
        outbox.close();
        assert!(matches!(outbox.turn(long().len()).await, Err(NotTaken::Closed)));
    }
}
