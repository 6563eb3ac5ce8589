//! Ids of conversations: short, sorted by time, unique.

use std::fmt;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::str::FromStr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::sessions::error::SessionError;

const TIME_DIGITS: usize = 8;
const RANDOM_DIGITS: usize = 4;
const LENGTH: usize = TIME_DIGITS + RANDOM_DIGITS;
const BASE: u32 = 36;
/// The start of 2020. Eight digits of milliseconds since then last until 2109.
const EPOCH_MS: i64 = 1_577_836_800_000;
const MAX_TIME: u64 = (BASE as u64).pow(TIME_DIGITS as u32) - 1;

/// The id of a conversation: twelve lower-case letters and digits that sort by time.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SessionId(String);

impl SessionId {
    /// Parses the text of an id.
    pub fn parse(text: &str) -> Result<Self, SessionError> {
        if text.len() == LENGTH && is_part_of_id(text) {
            Ok(Self(text.to_owned()))
        } else {
            Err(SessionError::BadId(text.to_owned()))
        }
    }

    /// Returns the id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns a new id for a conversation that starts at `time`. The caller checks that it is new.
    pub fn at(time: Timestamp) -> Self {
        let since = u64::try_from(time.as_millisecond() - EPOCH_MS).unwrap_or(0);
        // The standard hasher has random keys that differ per process and per instance.
        let chance = RandomState::new().build_hasher().finish();
        let mut id = digits(since.min(MAX_TIME), TIME_DIGITS);
        id.push_str(&digits(chance, RANDOM_DIGITS));
        Self(id)
    }
}

pub(crate) fn is_part_of_id(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
}

/// Returns the last `count` digits of a number in base 36.
fn digits(mut number: u64, count: usize) -> String {
    let mut reversed = Vec::with_capacity(count);
    for _ in 0..count {
        let digit = u32::try_from(number % u64::from(BASE)).unwrap_or_default();
        reversed.extend(char::from_digit(digit, BASE));
        number /= u64::from(BASE);
    }
    reversed.into_iter().rev().collect()
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl FromStr for SessionId {
    type Err = SessionError;

    fn from_str(text: &str) -> Result<Self, SessionError> {
        Self::parse(text)
    }
}

impl TryFrom<String> for SessionId {
    type Error = SessionError;

    fn try_from(text: String) -> Result<Self, SessionError> {
        Self::parse(&text)
    }
}

impl From<SessionId> for String {
    fn from(id: SessionId) -> Self {
        id.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_twelve_small_letters_and_digits_are_an_id() {
        for (text, good) in [
            ("0123456789az", true),
            ("abcdefghijkl", true),
            ("", false),
            ("abcdefghijk", false),
            ("abcdefghijklm", false),
            ("ABCDEFGHIJKL", false),
            ("abcdef-hijkl", false),
            ("äbcdefghijk", false),
        ] {
            assert_eq!(SessionId::parse(text).is_ok(), good, "{text}");
            let json = serde_json::to_string(text).unwrap();
            let read: Option<SessionId> = serde_json::from_str(&json).ok();
            assert_eq!(read.map(|id| serde_json::to_string(&id).unwrap()), good.then_some(json));
        }
    }

    #[test]
    fn ids_are_sorted_by_time_and_differ_within_one_moment() {
        let mut ids = Vec::new();
        for second in [0, 1_577_836_800, 1_577_836_801, 1_767_225_600, 4_102_444_800, 9_999_999_999]
        {
            ids.push(SessionId::at(Timestamp::from_second(second).unwrap()));
        }
        let mut times: Vec<String> = ids.iter().map(|id| id.0.chars().take(8).collect()).collect();
        assert!(times.is_sorted(), "{times:?}");
        times.dedup();
        assert_eq!(times.len(), 5, "what lies before the first moment counts as the first");
        for id in &ids {
            assert_eq!(SessionId::parse(id.as_str()).as_ref(), Ok(id));
        }
        let now = Timestamp::now();
        let same: std::collections::BTreeSet<_> = (0..50).map(|_| SessionId::at(now)).collect();
        assert!(same.len() > 45, "{same:?}");
    }
}
