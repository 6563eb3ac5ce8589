//! Assigns each tool the name that models call it by, and looks tools up by that name.

use std::collections::HashSet;
use std::fmt::Write;

use sha1::{Digest, Sha1};

// The longest name that every model vendor accepts.
const MAX_NAME_LEN: usize = 64;
// With an underscore and 8 hexadecimal digits, these make 64.
const TRUNCATED_LEN: usize = 55;
const DIGEST_BYTES: usize = 4;

/// Returns `server__tool` if models can use that name, otherwise its legal prefix and a digest.
#[must_use]
pub fn model_name(server: &str, tool: &str) -> String {
    let raw = format!("{server}__{tool}");
    let legal = replace_illegal_chars(&raw);
    if legal == raw && legal.len() <= MAX_NAME_LEN { legal } else { with_digest(&legal, &raw) }
}

/// A table of unique names, each mapped to the index of a tool.
#[derive(Debug, Clone, Default)]
pub struct ModelNames {
    names: Vec<String>,
    /// Indices into `names`, sorted by name.
    order: Vec<u32>,
}

impl ModelNames {
    /// Builds the table for pairs of server and tool.
    #[must_use]
    pub fn new<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        let names = Self::assign(pairs);
        let mut order: Vec<u32> = (0_u32..).take(names.len()).collect();
        order.sort_unstable_by(|left, right| name_at(&names, *left).cmp(name_at(&names, *right)));
        Self { names, order }
    }

    /// Assigns one unique name per pair, in order. The first of several pairs with the same plain
    /// name keeps it; the others get a digest.
    #[must_use]
    pub fn assign<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<String> {
        let pairs: Vec<_> = pairs.collect();
        let mut taken = HashSet::with_capacity(pairs.len());
        let mut names = Vec::with_capacity(pairs.len());
        // Plain names first, so that a digest name never takes one, and the name of a tool depends
        // only on the tools that it shares a plain name with.
        for (server, tool) in &pairs {
            let name = model_name(server, tool);
            names.push(taken.insert(name.clone()).then_some(name));
        }
        pairs
            .iter()
            .zip(names)
            .map(|((server, tool), name)| {
                name.unwrap_or_else(|| free_name(server, tool, &mut taken))
            })
            .collect()
    }

    /// Returns the index of the tool with this name.
    #[must_use]
    pub fn position(&self, name: &str) -> Option<usize> {
        // Never by splitting at `__`: a server may have that in its tool names, to imitate another.
        let found =
            self.order.binary_search_by(|index| name_at(&self.names, *index).cmp(name)).ok()?;
        self.order.get(found).map(|index| *index as usize)
    }

    /// Returns the name of the tool at this index.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&str> {
        self.names.get(index).map(String::as_str)
    }

    /// Returns all names, in the order of the pairs.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// Returns the number of names.
    #[must_use]
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Returns whether the table has no names.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}

fn name_at(names: &[String], index: u32) -> &str {
    names.get(index as usize).map_or("", String::as_str)
}

/// Returns an unused name for a pair whose plain name is taken.
fn free_name(server: &str, tool: &str, taken: &mut HashSet<String>) -> String {
    let legal = replace_illegal_chars(&format!("{server}__{tool}"));
    let mut attempt = 0_u64;
    loop {
        // The length keeps (`a`, `b__c`) and (`a__b`, `c`) apart, whose joined names are equal.
        let name = with_digest(&legal, &format!("{}:{server}__{tool}:{attempt}", server.len()));
        if taken.insert(name.clone()) {
            return name;
        }
        attempt += 1;
    }
}

/// Replaces each run of illegal characters with one underscore.
fn replace_illegal_chars(raw: &str) -> String {
    let mut legal = String::with_capacity(raw.len());
    let mut in_run = false;
    for character in raw.chars() {
        let fits = character.is_ascii_alphanumeric() || matches!(character, '_' | '-');
        if fits {
            legal.push(character);
        } else if !in_run {
            legal.push('_');
        }
        in_run = !fits;
    }
    legal
}

fn with_digest(legal: &str, digested: &str) -> String {
    let mut name: String = legal.chars().take(TRUNCATED_LEN).collect();
    name.push('_');
    for byte in Sha1::digest(digested.as_bytes()).iter().take(DIGEST_BYTES) {
        // Writing to a string cannot fail.
        _ = write!(name, "{byte:02x}");
    }
    name
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_match_the_known_vectors() {
        let long = "a".repeat(56);
        let longer = "a".repeat(57);
        let cases = [
            ("mock", "echo", "mock__echo".to_owned()),
            ("my.server", "tool/name", "my_server__tool_name_61879991".to_owned()),
            ("server", long.as_str(), format!("server__{long}")),
            ("server", longer.as_str(), format!("server__{}_d04e8207", "a".repeat(47))),
            (
                "github.com/modelcontextprotocol/servers/tree/main/src/github",
                "create_issue",
                "github_com_modelcontextprotocol_servers_tree_main_src_g_2002c4dd".to_owned(),
            ),
            ("服务器", "工具", "_____840f4dde".to_owned()),
        ];
        for (server, tool, expected) in cases {
            assert_eq!(model_name(server, tool), expected, "{server} {tool}");
        }
    }

    #[test]
    fn a_forged_prefix_gets_a_name_of_its_own_and_leads_to_its_own_tool() {
        let names = ModelNames::new([("a", "b__c"), ("a__b", "c")].into_iter());
        assert_eq!(names.get(0), Some("a__b__c"));
        let forged = names.get(1).unwrap();
        assert!(forged.starts_with("a__b__c_"), "{forged}");
        assert_eq!(names.position("a__b__c"), Some(0));
        assert_eq!(names.position(forged), Some(1));
        assert_eq!(names.position("a__b"), None);
    }

    #[test]
    fn a_plain_name_is_not_lost_to_the_replacement_of_another() {
        let colliding = [("a", "b__c"), ("a__b", "c")];
        let replacement = ModelNames::assign(colliding.into_iter()).remove(1);
        let tool = replacement.strip_prefix("a__").unwrap();
        let names = ModelNames::assign(colliding.into_iter().chain(std::iter::once(("a", tool))));
        assert_eq!(names[2], replacement);
        assert_ne!(names[1], replacement);
    }

    #[test]
    fn a_replacement_does_not_depend_on_other_pairs_that_collide() {
        let long = "x".repeat(60);
        let one = format!("{long}1");
        let two = format!("{long}2");
        let tool_one = format!("t__{one}");
        let tool_two = format!("t__{two}");
        let first = [("s", tool_one.as_str()), ("s__t", one.as_str())];
        let second = [("s", tool_two.as_str()), ("s__t", two.as_str())];
        let alone = ModelNames::assign(second.into_iter());
        let together = ModelNames::assign(first.into_iter().chain(second));
        assert_eq!(together[2..], alone);
    }

    fn part() -> impl Strategy<Value = String> {
        // A narrow alphabet makes collisions common.
        prop_oneof!["[a_]{0,4}", "[a-z./ _-]{0,70}", "\\PC{0,20}"]
    }

    proptest! {
        #[test]
        fn names_are_unique_short_legal_and_the_same_every_time(
            pairs in proptest::collection::vec((part(), part()), 0..40),
        ) {
            let borrowed = || pairs.iter().map(|(server, tool)| (server.as_str(), tool.as_str()));
            let names = ModelNames::new(borrowed());
            let unique: HashSet<_> = names.iter().collect();
            prop_assert_eq!(unique.len(), pairs.len());
            for (index, name) in names.iter().enumerate() {
                prop_assert!(name.len() <= 64 && !name.is_empty());
                prop_assert!(
                    name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
                );
                prop_assert_eq!(names.position(name), Some(index));
            }
            prop_assert_eq!(ModelNames::assign(borrowed()), names.iter().collect::<Vec<_>>());
        }

        #[test]
        fn a_pair_that_shares_its_name_with_none_keeps_it_whatever_else_is_there(
            pairs in proptest::collection::vec((part(), part()), 0..40),
        ) {
            let borrowed = pairs.iter().map(|(server, tool)| (server.as_str(), tool.as_str()));
            let names = ModelNames::assign(
                std::iter::once(("weather", "get_forecast")).chain(borrowed),
            );
            prop_assert_eq!(names[0].as_str(), "weather__get_forecast");
        }
    }
}
