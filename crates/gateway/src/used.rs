//! Which tools are called most.

use std::sync::Mutex;

use foldhash::HashMap;

use crate::session::locked;

/// Calls of tools, counted by the names that we give out.
#[derive(Default)]
pub(crate) struct Used {
    counts: Mutex<HashMap<String, u64>>,
}

impl Used {
    /// Counts a call.
    pub(crate) fn count(&self, name: &str) {
        let mut counts = locked(&self.counts);
        match counts.get_mut(name) {
            Some(count) => *count += 1,
            None => {
                counts.insert(name.to_owned(), 1);
            }
        }
    }

    /// The names that were called most, by name: an order that does not change with every call.
    pub(crate) fn most(&self, limit: usize) -> Vec<String> {
        let mut counted: Vec<(String, u64)> =
            locked(&self.counts).iter().map(|(name, count)| (name.clone(), *count)).collect();
        counted.sort_by(|left, right| right.1.cmp(&left.1).then_with(|| left.0.cmp(&right.0)));
        let mut names: Vec<String> =
            counted.into_iter().take(limit).map(|(name, _)| name).collect();
        names.sort();
        names
    }
}
