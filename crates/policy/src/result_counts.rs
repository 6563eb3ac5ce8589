//! Counts results per tool, resource and prompt of a session, within bounds.

use std::borrow::Borrow;
use std::collections::HashSet;
use std::sync::{Arc, LazyLock};

use parking_lot::Mutex;

// A server chooses its names, and could grow a session without end.
const MAX_NAMES: usize = 1_000;
const MAX_BYTES: usize = 64 * 1024;

/// Number of results by `server/target`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResultCounts {
    /// Sorted by name. Interned, because many sessions share the names.
    times: Vec<(InternedName, u32)>,
    bytes: usize,
    /// Whether the limits were exceeded, so that the counts are unknown.
    is_full: bool,
}

impl ResultCounts {
    /// Returns the counts by `server/target`, or `None` if the limits were exceeded.
    #[must_use]
    pub fn counts(&self) -> Option<impl Iterator<Item = (&str, u64)>> {
        let times = || self.times.iter().map(|(name, times)| (name.as_str(), u64::from(*times)));
        (!self.is_full).then(times)
    }

    /// Counts one result of a target.
    pub fn add(&mut self, server: &str, target: &str) {
        self.add_count(server, target, 1);
    }

    /// Counts `times` results of a target.
    pub fn add_count(&mut self, server: &str, target: &str, times: u64) {
        self.increase(&[server, target].join("/"), u32::try_from(times).unwrap_or(u32::MAX));
    }

    /// Merges counts of the same session from another source, such as the record.
    pub fn merge(&mut self, other: &Self) {
        for (name, times) in &other.times {
            // Both sources may have counted the same results, so the larger count wins.
            let known = self.position(name.as_str()).ok().and_then(|place| self.times.get(place));
            let known = known.map_or(0, |(_, times)| *times);
            self.increase(name.as_str(), times.saturating_sub(known));
        }
        if other.is_full {
            self.overflow();
        }
    }

    /// Drops all counts and marks them as unknown.
    pub fn overflow(&mut self) {
        // Unknown counts fail conditions closed. Partial ones would be too low, and allow too much.
        *self = Self { is_full: true, ..Self::default() };
    }

    /// Returns the total length of the names, in bytes.
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    fn position(&self, name: &str) -> Result<usize, usize> {
        self.times.binary_search_by(|(known, _)| known.as_str().cmp(name))
    }

    fn increase(&mut self, name: &str, times: u32) {
        if self.is_full || times == 0 {
            return;
        }
        let place = match self.position(name) {
            Ok(place) => {
                if let Some((_, known)) = self.times.get_mut(place) {
                    *known = known.saturating_add(times);
                }
                return;
            }
            Err(place) => place,
        };
        self.bytes += name.len();
        if self.times.len() >= MAX_NAMES || self.bytes > MAX_BYTES {
            return self.overflow();
        }
        self.times.insert(place, (InternedName::intern(name), times));
    }
}

// Below this number, unused names are not worth a sweep.
const MIN_SWEEP_NAMES: usize = 1_000;

static INTERNER: LazyLock<Mutex<NameInterner>> = LazyLock::new(Mutex::default);

/// A name that is shared by all sessions that use it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct InternedName(Arc<NameText>);

#[derive(Debug, PartialEq, Eq, Hash)]
struct NameText(Box<str>);

#[derive(Debug, Default)]
struct NameInterner {
    names: HashSet<InternedName>,
    left: usize,
}

impl InternedName {
    fn intern(name: &str) -> Self {
        INTERNER.lock().intern(name)
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0.0
    }
}

impl Borrow<str> for InternedName {
    fn borrow(&self) -> &str {
        self.as_str()
    }
}

impl NameInterner {
    fn intern(&mut self, name: &str) -> InternedName {
        if let Some(known) = self.names.get(name) {
            return known.clone();
        }
        // Doubling before each sweep keeps its cost per name constant.
        if self.names.len() > MIN_SWEEP_NAMES + 2 * self.left {
            self.names.retain(|name| Arc::strong_count(&name.0) > 1);
            self.left = self.names.len();
        }
        let new = InternedName(Arc::new(NameText(name.into())));
        self.names.insert(new.clone());
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count_list(results: &ResultCounts) -> Option<Vec<(&str, u64)>> {
        Some(results.counts()?.collect())
    }

    #[test]
    fn results_are_counted_by_server_and_name_and_joined_by_the_larger_count() {
        let mut here = ResultCounts::default();
        for target in ["read", "read", "list"] {
            here.add("files", target);
        }
        let mut there = ResultCounts::default();
        for target in ["read", "list", "list", "list"] {
            there.add("files", target);
        }
        there.add("web", "https://a.example/?b");
        here.merge(&there);
        let expected = vec![("files/list", 3), ("files/read", 2), ("web/https://a.example/?b", 1)];
        assert_eq!(count_list(&here), Some(expected));
    }

    #[test]
    fn more_than_is_kept_is_known_to_be_more() {
        let mut many = ResultCounts::default();
        for number in 0..MAX_NAMES {
            many.add("web", &number.to_string());
        }
        assert_eq!(count_list(&many).map(|all| all.len()), Some(MAX_NAMES));
        many.add("web", "0");
        assert!(count_list(&many).is_some());
        many.add("web", "one more");
        assert_eq!((count_list(&many), many.bytes()), (None, 0));
        let mut long = ResultCounts::default();
        long.add("web", &"x".repeat(MAX_BYTES));
        assert_eq!(count_list(&long), None);
        let mut joined = ResultCounts::default();
        joined.add("files", "read");
        joined.merge(&long);
        assert_eq!(count_list(&joined), None);
    }

    #[test]
    fn names_are_kept_once_and_as_long_as_somebody_has_them() {
        let mut all = NameInterner::default();
        let kept: Vec<InternedName> =
            (0..MIN_SWEEP_NAMES).map(|n| all.intern(&n.to_string())).collect();
        for number in 0..10 * MIN_SWEEP_NAMES {
            all.intern(&format!("nobody's {number}"));
        }
        assert!(all.names.len() <= 4 * MIN_SWEEP_NAMES, "{}", all.names.len());
        for (number, name) in kept.iter().enumerate() {
            assert!(Arc::ptr_eq(&all.intern(&number.to_string()).0, &name.0), "{number}");
        }
    }
}
