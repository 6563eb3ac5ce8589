//! Finds the patterns that can cover a name, without trying all of them.

use std::collections::{BTreeSet, HashMap};

use switchboard_rules::Pattern;

/// Patterns by the text before their first wildcard.
#[derive(Debug, Default)]
pub(crate) struct PatternIndex {
    exact: HashMap<Box<str>, Vec<usize>>,
    by_start: HashMap<Box<str>, Vec<usize>>,
    /// The lengths of those starts: a name is looked up once for each of them.
    lengths: BTreeSet<usize>,
}

impl PatternIndex {
    pub(crate) fn new<'a>(patterns: impl Iterator<Item = &'a Pattern>) -> Self {
        let mut index = Self::default();
        for (place, pattern) in patterns.enumerate() {
            for (start, is_exact) in pattern.starts() {
                if is_exact {
                    index.exact.entry(start.into()).or_default().push(place);
                } else {
                    index.lengths.insert(start.len());
                    index.by_start.entry(start.into()).or_default().push(place);
                }
            }
        }
        index
    }

    /// The places of the patterns that can cover `name`, in their order.
    pub(crate) fn candidates(&self, name: &str) -> Vec<usize> {
        let mut places: Vec<usize> = self.exact.get(name).cloned().unwrap_or_default();
        for length in self.lengths.iter().take_while(|length| **length <= name.len()) {
            let found = name.get(..*length).and_then(|start| self.by_start.get(start));
            places.extend(found.into_iter().flatten());
        }
        places.sort_unstable();
        // The forms of one pattern may all be candidates.
        places.dedup();
        places
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use switchboard_rules::Pattern;

    use super::PatternIndex;

    proptest! {
        #[test]
        fn every_pattern_that_covers_a_name_is_found(
            patterns in proptest::collection::vec(
                "[ab*?]{1,3}/([ab*?]|\\[[ab]\\]|\\{[ab*]{0,2},[ab?]{0,2}\\}|\\\\[ab*]){1,3}|\\*|[ab]{1,2}",
                1..20,
            ),
            server in "[ab]{1,3}",
            target in "[ab*/]{1,3}",
        ) {
            let patterns: Vec<Pattern> = patterns.iter().map(|text| Pattern::new(text)).collect();
            let found = PatternIndex::new(patterns.iter()).candidates(&format!("{server}/{target}"));
            for (place, pattern) in patterns.iter().enumerate() {
                if pattern.covers(&server, &target) {
                    prop_assert!(found.contains(&place), "{pattern:?}");
                }
            }
        }
    }
}
