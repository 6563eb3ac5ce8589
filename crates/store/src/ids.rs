//! The numbers this process may give to calls, reserved in the file block by block.

use parking_lot::Mutex;

use crate::call_id::CallId;

/// The first block is small, so that a process that makes one call does not waste numbers.
pub(crate) const FIRST_BLOCK: i64 = 64;
/// Blocks double up to this size, so that a busy process seldom waits for one.
pub(crate) const MAX_BLOCK: i64 = 8192;

/// A block of numbers, used from its start.
#[derive(Debug, Default)]
pub(crate) struct IdAllocator(Mutex<IdBlock>);

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IdBlock {
    pub(crate) next: i64,
    pub(crate) end: i64,
}

impl IdAllocator {
    pub(crate) fn new(block: IdBlock) -> Self {
        Self(Mutex::new(block))
    }

    /// The next number, or none when the block is used up.
    pub(crate) fn take(&self) -> Option<CallId> {
        let mut block = self.0.lock();
        let number = block.next;
        (number < block.end).then(|| {
            block.next += 1;
            CallId(number)
        })
    }

    pub(crate) fn remaining(&self) -> IdBlock {
        *self.0.lock()
    }

    pub(crate) fn replace(&self, block: IdBlock) {
        *self.0.lock() = block;
    }
}
