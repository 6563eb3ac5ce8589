//! Ids of calls: short enough to type, unique among all processes that share a ledger.

use std::fmt;
use std::str::FromStr;

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use crate::error::LedgerError;

/// The id of a call. Ids increase over time within a process, but only roughly between processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallId(pub(crate) i64);

impl CallId {
    /// Returns the id with this number.
    #[must_use]
    pub const fn new(number: i64) -> Self {
        Self(number)
    }

    /// Returns the id as a number.
    #[must_use]
    pub const fn get(self) -> i64 {
        self.0
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0.to_string())
    }
}

impl FromStr for CallId {
    type Err = LedgerError;

    fn from_str(text: &str) -> Result<Self, LedgerError> {
        let digits = text.strip_prefix('#').unwrap_or(text);
        match digits.parse() {
            // `parse` alone would accept a leading `+`.
            Ok(number) if number > 0 && digits.starts_with(|c: char| c.is_ascii_digit()) => {
                Ok(Self(number))
            }
            _ => Err(LedgerError::BadId(text.to_owned())),
        }
    }
}

/// Size of the first block of ids; small, so that a process that makes one call wastes few.
pub(crate) const FIRST_BLOCK: i64 = 64;
/// Maximum size of a block. Blocks double up to it, so that a busy process rarely waits for one.
pub(crate) const MAX_BLOCK: i64 = 8192;

/// Hands out the ids of a block in order.
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

    /// Returns the next id, or `None` if the block is used up.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_reads_back_with_or_without_its_sign() {
        for (text, expected) in [
            ("418", Some(418)),
            ("#418", Some(418)),
            ("0", None),
            ("-3", None),
            ("+3", None),
            ("", None),
            ("#", None),
            ("4a", None),
            ("99999999999999999999", None),
        ] {
            assert_eq!(text.parse::<CallId>().ok().map(CallId::get), expected, "{text}");
        }
        assert_eq!(CallId(418).to_string(), "418");
    }
}
