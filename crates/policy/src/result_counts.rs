//! Which tools, resources and prompts a session has results of, and how often: within bounds.

use crate::interned_name::SharedName;

/// So many different names are kept for a session, and so many bytes of them.
const MOST_NAMES: usize = 1_000;
const MOST_BYTES: usize = 64 * 1024;

/// How often something came back, by `server/target`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Results {
    /// In the order of the names: many sessions have many of the same, so each takes little.
    times: Vec<(SharedName, u32)>,
    bytes: usize,
    /// Whether there was more than is kept: then nobody can tell what is missing.
    is_full: bool,
}

impl Results {
    /// How often something came back, by `server/target`; none once there was more than is kept.
    #[must_use]
    pub fn times(&self) -> Option<impl Iterator<Item = (&str, u64)>> {
        let times = || self.times.iter().map(|(name, times)| (name.as_str(), u64::from(*times)));
        (!self.is_full).then(times)
    }

    /// Takes in that something came back from a target of a server.
    pub fn add(&mut self, server: &str, target: &str) {
        self.add_times(server, target, 1);
    }

    /// Takes in that something came back from a target of a server so often.
    pub fn add_times(&mut self, server: &str, target: &str, times: u64) {
        self.more(&[server, target].join("/"), u32::try_from(times).unwrap_or(u32::MAX));
    }

    /// Takes in what is known from elsewhere of the same session: of two counts the larger.
    pub fn join(&mut self, other: &Self) {
        for (name, times) in &other.times {
            let known = self.place(name.as_str()).ok().and_then(|place| self.times.get(place));
            let known = known.map_or(0, |(_, times)| *times);
            self.more(name.as_str(), times.saturating_sub(known));
        }
        if other.is_full {
            self.give_up();
        }
    }

    /// Keeps nothing any more.
    pub fn give_up(&mut self) {
        *self = Self { is_full: true, ..Self::default() };
    }

    /// How many bytes the names have.
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    fn place(&self, name: &str) -> Result<usize, usize> {
        self.times.binary_search_by(|(known, _)| known.as_str().cmp(name))
    }

    fn more(&mut self, name: &str, times: u32) {
        if self.is_full || times == 0 {
            return;
        }
        let place = match self.place(name) {
            Ok(place) => {
                if let Some((_, known)) = self.times.get_mut(place) {
                    *known = known.saturating_add(times);
                }
                return;
            }
            Err(place) => place,
        };
        self.bytes += name.len();
        if self.times.len() >= MOST_NAMES || self.bytes > MOST_BYTES {
            return self.give_up();
        }
        self.times.insert(place, (SharedName::of(name), times));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(results: &Results) -> Option<Vec<(&str, u64)>> {
        Some(results.times()?.collect())
    }

    #[test]
    fn results_are_counted_by_server_and_name_and_joined_by_the_larger_count() {
        let mut here = Results::default();
        for target in ["read", "read", "list"] {
            here.add("files", target);
        }
        let mut there = Results::default();
        for target in ["read", "list", "list", "list"] {
            there.add("files", target);
        }
        there.add("web", "https://a.example/?b");
        here.join(&there);
        let expected = vec![("files/list", 3), ("files/read", 2), ("web/https://a.example/?b", 1)];
        assert_eq!(told(&here), Some(expected));
    }

    #[test]
    fn more_than_is_kept_is_known_to_be_more() {
        let mut many = Results::default();
        for number in 0..MOST_NAMES {
            many.add("web", &number.to_string());
        }
        assert_eq!(told(&many).map(|all| all.len()), Some(MOST_NAMES));
        many.add("web", "0");
        assert!(told(&many).is_some());
        many.add("web", "one more");
        assert_eq!((told(&many), many.bytes()), (None, 0));
        let mut long = Results::default();
        long.add("web", &"x".repeat(MOST_BYTES));
        assert_eq!(told(&long), None);
        let mut joined = Results::default();
        joined.add("files", "read");
        joined.join(&long);
        assert_eq!(told(&joined), None);
    }
}
