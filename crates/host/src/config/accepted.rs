//! `Accepted`: the definitions that a person stands by in spite of what the scanner found in them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::config::change::change;
use crate::config::error::ConfigError;
use crate::config::read_text::read_text;

/// One definition that a person stands by in spite of what was found in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Acceptance {
    /// What the definition describes, in one word.
    pub kind: String,
    /// Its name or address; empty for instructions.
    pub name: String,
    /// The fingerprint of its canonical text, as pins have it.
    pub digest: String,
    /// The rules that had found something: what the person was shown.
    pub rules: BTreeSet<String>,
    /// When it was accepted.
    pub at: String,
}

/// Every such definition, by the identity of its server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accepted {
    /// Identity of the server, definitions.
    pub servers: BTreeMap<String, Vec<Acceptance>>,
}

impl Acceptance {
    /// Accepts this definition, in spite of these rules, at this moment.
    #[must_use]
    pub fn new<'a>(
        (kind, name, digest): (&str, &str, &str),
        rules: impl Iterator<Item = &'a str>,
    ) -> Self {
        Self {
            kind: kind.to_owned(),
            name: name.to_owned(),
            digest: digest.to_owned(),
            rules: rules.map(str::to_owned).collect(),
            at: Timestamp::now().to_string(),
        }
    }
}

impl Accepted {
    /// Where it is kept below a state folder.
    #[must_use]
    pub fn file(state: &Path) -> PathBuf {
        state.join("accepted.json")
    }

    /// What is accepted; nothing without a file.
    ///
    /// # Errors
    /// When the file is there and cannot be used.
    pub fn load(state: &Path) -> Result<Self, ConfigError> {
        let path = Self::file(state);
        let text = read_text(&path)?;
        text.map(|text| parse(&path, &text)).transpose().map(Option::unwrap_or_default)
    }

    /// Stands by these definitions of a server from now on; what was said of the same ones before
    /// is replaced.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn add(state: &Path, identity: &str, new: Vec<Acceptance>) -> Result<(), ConfigError> {
        edit(state, |all| {
            let known = all.servers.entry(identity.to_owned()).or_default();
            known.retain(|old| {
                !new.iter().any(|one| (&one.kind, &one.name) == (&old.kind, &old.name))
            });
            known.extend(new);
        })
    }

    /// Takes back what was accepted of a server; gives how many definitions that were.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn take_back(
        state: &Path,
        identity: &str,
        wanted: impl Fn(&str) -> bool,
    ) -> Result<usize, ConfigError> {
        if !Self::load(state)?.servers.contains_key(identity) {
            return Ok(0);
        }
        let mut count = 0;
        edit(state, |all| {
            let known = all.servers.entry(identity.to_owned()).or_default();
            let before = known.len();
            known.retain(|one| !wanted(&one.name));
            count = before - known.len();
        })?;
        Ok(count)
    }

    /// Whether a person has accepted exactly this definition, and all that is found in it.
    #[must_use]
    pub fn covers<'a>(
        &self,
        identity: &str,
        (kind, name, digest): (&str, &str, &str),
        mut rules: impl Iterator<Item = &'a str>,
    ) -> bool {
        let known = self.servers.get(identity).into_iter().flatten();
        let mut same =
            known.filter(|one| one.kind == kind && one.name == name && one.digest == digest);
        same.next().is_some_and(|one| rules.all(|rule| one.rules.contains(rule)))
    }
}

fn edit(state: &Path, edit: impl FnOnce(&mut Accepted)) -> Result<(), ConfigError> {
    let path = Accepted::file(state);
    change(&path, |before| {
        let mut all = before.map(|text| parse(&path, text)).transpose()?.unwrap_or_default();
        edit(&mut all);
        all.servers.retain(|_, known| !known.is_empty());
        serde_json::to_string_pretty(&all)
            .map(|text| text + "\n")
            .map_err(|cause| ConfigError::new(path.as_path(), cause.to_string()))
    })
}

fn parse(path: &Path, text: &str) -> Result<Accepted, ConfigError> {
    serde_json::from_str(text).map_err(|cause| {
        ConfigError::new(path, format!("what was accepted cannot be read: {cause}"))
            .hint("remove the file, then look at what is held and approve it again")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn acceptance(name: &str, digest: &str, rules: &[&str]) -> Acceptance {
        Acceptance {
            kind: "tool".to_owned(),
            name: name.to_owned(),
            digest: digest.to_owned(),
            rules: rules.iter().map(|rule| (*rule).to_owned()).collect(),
            at: "2026-01-01T00:00:00Z".to_owned(),
        }
    }

    #[test]
    fn an_acceptance_covers_the_exact_definition_and_what_was_found_then() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path();
        Accepted::add(state, "id", vec![acceptance("add", "1", &["a", "b"])]).unwrap();
        let all = Accepted::load(state).unwrap();
        let covers = |identity: &str, name: &str, digest: &str, rules: &[&str]| {
            all.covers(identity, ("tool", name, digest), rules.iter().copied())
        };
        assert!(covers("id", "add", "1", &["a"]) && covers("id", "add", "1", &["b", "a"]));
        for (identity, name, digest, rules) in [
            ("other", "add", "1", &["a"][..]),
            ("id", "sub", "1", &["a"]),
            ("id", "add", "2", &["a"]),
            ("id", "add", "1", &["a", "c"]),
        ] {
            assert!(!covers(identity, name, digest, rules), "{identity} {name} {digest} {rules:?}");
        }
    }

    #[test]
    fn a_later_acceptance_replaces_the_one_before_and_can_be_taken_back() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path();
        Accepted::add(state, "id", vec![acceptance("add", "1", &["a"])]).unwrap();
        Accepted::add(state, "id", vec![acceptance("add", "2", &["a"])]).unwrap();
        let known = Accepted::load(state).unwrap().servers.remove("id").unwrap();
        assert_eq!(known, [acceptance("add", "2", &["a"])]);
        assert_eq!(Accepted::take_back(state, "id", |name| name == "sub").unwrap(), 0);
        assert_eq!(Accepted::take_back(state, "id", |name| name == "add").unwrap(), 1);
        assert_eq!(Accepted::load(state).unwrap(), Accepted::default());
        assert_eq!(Accepted::take_back(state, "id", |_| true).unwrap(), 0);
    }
}
