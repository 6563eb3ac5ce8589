//! Counts tool calls per caller, to find the most used tools.

use std::sync::Arc;

use foldhash::HashMap;
use parking_lot::Mutex;

/// Maximum number of callers; the least recently active one is evicted first.
const MAX_CALLERS: usize = 1_000;
/// Maximum number of tool names per caller; rarely used ones are evicted first.
const MAX_NAMES: usize = 256;
/// How many times as often a tool must be called to replace another in the short list. The factor
/// keeps the list from changing with every call.
const PROMOTION_FACTOR: u64 = 2;

/// Call counts by caller and public tool name.
#[derive(Default)]
pub(crate) struct ToolUsage {
    state: Mutex<UsageState>,
}

#[derive(Default)]
struct UsageState {
    callers: HashMap<Arc<str>, CallerToolCalls>,
    /// Number of calls so far, which orders the callers by their last one.
    clock: u64,
}

#[derive(Default)]
struct CallerToolCalls {
    counts: HashMap<String, u64>,
    /// The most used tools, sorted by name.
    hot: Vec<String>,
    /// The value of `clock` at the last call.
    last: u64,
}

impl ToolUsage {
    /// Counts a call. Returns whether the caller's `most` most used tools changed. Tools that no
    /// longer exist are replaced first.
    pub(crate) fn count(
        &self,
        caller: &Arc<str>,
        name: &str,
        most: usize,
        is_there: impl Fn(&str) -> bool,
    ) -> bool {
        let mut state = self.state.lock();
        state.clock += 1;
        let now = state.clock;
        let callers = &mut state.callers;
        if !callers.contains_key(caller) && callers.len() >= MAX_CALLERS {
            let oldest = callers.iter().min_by_key(|(_, calls)| calls.last);
            let oldest = oldest.map(|(oldest, _)| Arc::clone(oldest));
            oldest.and_then(|oldest| callers.remove(&oldest));
        }
        let calls = callers.entry(Arc::clone(caller)).or_default();
        calls.last = now;
        calls.count(name, most, is_there)
    }

    /// Returns the caller's most used tools, sorted by name so that the order is stable.
    pub(crate) fn hot_tools(&self, caller: &str) -> Vec<String> {
        self.state.lock().callers.get(caller).map(|calls| calls.hot.clone()).unwrap_or_default()
    }
}

impl CallerToolCalls {
    fn count(&mut self, name: &str, most: usize, is_there: impl Fn(&str) -> bool) -> bool {
        let count = match self.counts.get_mut(name) {
            Some(count) => {
                *count += 1;
                *count
            }
            None => {
                self.make_room();
                self.counts.insert(name.to_owned(), 1);
                1
            }
        };
        if self.hot.iter().any(|hot| hot == name) {
            return false;
        }
        if self.hot.len() >= most {
            self.hot.retain(|hot| is_there(hot));
        }
        if self.hot.len() >= most {
            let counted = |name: &String| self.counts.get(name).copied().unwrap_or(0);
            let least = self.hot.iter().enumerate().min_by_key(|(_, hot)| counted(hot));
            let Some((place, _)) =
                least.filter(|(_, hot)| count >= PROMOTION_FACTOR * counted(hot).max(1))
            else {
                return false;
            };
            self.hot.remove(place);
        }
        let place = self.hot.partition_point(|hot| hot.as_str() < name);
        self.hot.insert(place, name.to_owned());
        true
    }

    /// Halves all counts when there are too many names, so that recent calls weigh more.
    fn make_room(&mut self) {
        if self.counts.len() < MAX_NAMES {
            return;
        }
        let hot = &self.hot;
        self.counts.retain(|name, count| {
            *count /= 2;
            *count > 0 || hot.contains(name)
        });
        // All counts were high; without this the table would grow past its limit.
        if self.counts.len() >= MAX_NAMES {
            self.counts.retain(|name, _| hot.contains(name));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{MAX_CALLERS, MAX_NAMES, ToolUsage};

    fn count(used: &ToolUsage, caller: &Arc<str>, name: &str) -> bool {
        used.count(caller, name, 2, |name| name != "gone")
    }

    #[test]
    fn a_tool_becomes_one_of_those_that_its_caller_uses_most_and_stays_for_a_while() {
        let used = ToolUsage::default();
        let ada: Arc<str> = "ada".into();
        let eve: Arc<str> = "eve".into();
        for (name, changes, most) in [
            ("b", true, &["b"][..]),
            ("b", false, &["b"]),
            ("a", true, &["a", "b"]),
            ("c", false, &["a", "b"]),
            ("c", true, &["b", "c"]),
            ("a", false, &["b", "c"]),
        ] {
            assert_eq!(count(&used, &ada, name), changes, "{name}");
            assert_eq!(used.hot_tools("ada"), most, "{name}");
        }
        assert!(used.hot_tools("eve").is_empty());
        for (name, most) in [("gone", &["gone"][..]), ("x", &["gone", "x"]), ("y", &["x", "y"])] {
            assert!(count(&used, &eve, name), "{name}");
            assert_eq!(used.hot_tools("eve"), most, "{name}");
        }
    }

    #[test]
    fn only_so_much_is_remembered() {
        let used = ToolUsage::default();
        for number in 0..MAX_CALLERS * 2 {
            count(&used, &number.to_string().into(), "a");
        }
        let busy: Arc<str> = "busy".into();
        for number in 0..MAX_NAMES * 4 {
            count(&used, &busy, &number.to_string());
        }
        let state = used.state.lock();
        assert!(state.callers.len() <= MAX_CALLERS);
        assert!(state.callers.get("busy").unwrap().counts.len() <= MAX_NAMES);
    }
}
