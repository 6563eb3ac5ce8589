//! `Pins`: which definitions of a server a person stands by, one file per server in the state folder.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::config::change::change_long;
use crate::config::error::ConfigError;
use crate::config::file::read_text_within;

/// The longest file of pins, in bytes: a server may list thousands of tools.
const LONGEST: u64 = 64 * 1024 * 1024;
/// So many held definitions are kept beyond those that the server offers at the moment.
const MOST_HELD: usize = 2_000;

/// What can be pinned.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum PinKind {
    /// What a server wants a model to know; its name is empty.
    Instructions,
    /// A tool.
    Tool,
    /// A prompt.
    Prompt,
    /// A family of resources.
    Template,
}

/// One definition as it was seen.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Pinned {
    /// The fingerprint of its canonical text.
    pub digest: String,
    /// The canonical text.
    pub definition: Box<RawValue>,
}

/// Definitions by kind and name. A kind that is there, even without a name, has been listed.
pub type Book = BTreeMap<PinKind, BTreeMap<String, Pinned>>;

/// Everything that is known of the definitions of one server.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Pins {
    /// The server's name.
    pub server: String,
    /// How it is reached, for people.
    pub how: String,
    /// What somebody stands by; without any kind, nobody has looked yet.
    pub approved: Book,
    /// What was seen since and waits for a person.
    pub held: Book,
    /// A person has taken back what was approved: nothing of the server is used.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub revoked: bool,
    /// A person was shown the server and has not said yes: nobody else does in their place.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asked: bool,
}

impl PinKind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Instructions, Self::Tool, Self::Prompt, Self::Template];

    /// The kind in few words.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Instructions => "instructions",
            Self::Tool => "tool",
            Self::Prompt => "prompt",
            Self::Template => "resource template",
        }
    }
}

impl Pins {
    /// Where the pins of the server with this identity are.
    #[must_use]
    pub fn file(state: &Path, identity: &str) -> PathBuf {
        folder(state).join(format!("{identity}.json"))
    }

    /// The pins of a server; without a file there are none.
    ///
    /// # Errors
    /// When the file is there and cannot be used.
    pub fn load(state: &Path, identity: &str) -> Result<Self, ConfigError> {
        let path = Self::file(state, identity);
        read_text_within(&path, LONGEST)?
            .map(|text| parse(&path, &text))
            .transpose()
            .map(Option::unwrap_or_default)
    }

    /// Changes the pins of a server on top of what other processes wrote, and gives what came of it.
    ///
    /// This blocks for up to ten seconds if another process writes.
    ///
    /// # Errors
    /// When they cannot be read or written.
    pub fn change(
        state: &Path,
        identity: &str,
        edit: impl FnOnce(&mut Self),
    ) -> Result<Self, ConfigError> {
        let path = Self::file(state, identity);
        let mut pins = Self::default();
        change_long(&path, LONGEST, |before| {
            pins = before.map(|text| parse(&path, text)).transpose()?.unwrap_or_default();
            edit(&mut pins);
            serde_json::to_string(&pins)
                .map(|text| text + "\n")
                .map_err(|cause| ConfigError::new(path.as_path(), cause.to_string()))
        })?;
        Ok(pins)
    }

    /// Stands by what a server offers when it is first seen; what somebody decided before stays, and
    /// what a person was asked about is theirs to decide.
    pub fn trust_first(&mut self, seen: Book) {
        if self.asked {
            return;
        }
        for (kind, items) in seen {
            self.approved.entry(kind).or_insert(items);
        }
    }

    /// Forgets what waited before the server was seen as it is now: what it does not offer any more
    /// must not be approved. Of kinds that could not be listed nobody knows what it offers.
    pub fn forget_held(&mut self, unlisted: &BTreeSet<PinKind>) {
        self.held.retain(|kind, _| unlisted.contains(kind));
    }

    /// Keeps what waits for a person, so that other processes can show and approve it.
    pub fn hold(&mut self, seen: &Book) {
        let kept: usize = self.held.values().map(BTreeMap::len).sum();
        if kept > MOST_HELD {
            self.held.clear();
        }
        for (kind, items) in seen {
            let held = self.held.entry(*kind).or_default();
            held.extend(items.iter().map(|(name, item)| (name.clone(), item.clone())));
        }
    }

    /// Stands by held definitions from now on, exactly as they were seen; gives how many.
    pub fn approve(&mut self, wanted: impl Fn(PinKind, &str) -> bool) -> usize {
        let mut count = 0;
        (self.revoked, self.asked) = (false, false);
        for kind in PinKind::ALL {
            let approved = self.approved.entry(kind).or_default();
            let Some(held) = self.held.get_mut(&kind) else { continue };
            held.retain(|name, item| {
                let is_wanted = wanted(kind, name);
                if is_wanted {
                    approved.insert(name.clone(), item.clone());
                    count += 1;
                }
                !is_wanted
            });
        }
        self.held.retain(|_, items| !items.is_empty());
        count
    }

    /// Takes approvals back: the definitions wait for a person again. Gives how many.
    pub fn revoke(&mut self, wanted: impl Fn(PinKind, &str) -> bool) -> usize {
        let mut count = 0;
        for (kind, items) in &mut self.approved {
            let held = self.held.entry(*kind).or_default();
            items.retain(|name, item| {
                let is_wanted = wanted(*kind, name);
                if is_wanted {
                    held.entry(name.clone()).or_insert_with(|| item.clone());
                    count += 1;
                }
                !is_wanted
            });
        }
        self.held.retain(|_, items| !items.is_empty());
        count
    }
}

fn folder(state: &Path) -> PathBuf {
    state.join("pins")
}

fn parse(path: &Path, text: &str) -> Result<Pins, ConfigError> {
    serde_json::from_str(text).map_err(|cause| {
        ConfigError::new(path, format!("the pins cannot be read: {cause}"))
            .hint("remove the file, then look at the server's definitions and approve them again")
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn book(names: &[(&str, &str)]) -> Book {
        let item = |(name, digest): &(&str, &str)| {
            let definition = RawValue::from_string(format!("{{\"name\":\"{name}\"}}")).unwrap();
            ((*name).to_owned(), Pinned { digest: (*digest).to_owned(), definition })
        };
        BTreeMap::from([(PinKind::Tool, names.iter().map(item).collect())])
    }

    fn digests(book: &Book) -> Vec<(String, String)> {
        let items = book.get(&PinKind::Tool).into_iter().flatten();
        items.map(|(name, item)| (name.clone(), item.digest.clone())).collect()
    }

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, digest)| ((*name).to_owned(), (*digest).to_owned())).collect()
    }

    #[test]
    fn the_first_one_to_see_a_server_decides_what_it_was_first() {
        let folder = tempfile::tempdir().unwrap();
        let first = |book| Pins::change(folder.path(), "id", |pins| pins.trust_first(book));
        first(book(&[("read", "1")])).unwrap();
        let pins = first(book(&[("read", "2"), ("write", "1")])).unwrap();
        assert_eq!(digests(&pins.approved), pairs(&[("read", "1")]));
        let again = Pins::load(folder.path(), "id").unwrap();
        assert_eq!(digests(&again.approved), pairs(&[("read", "1")]));
    }

    #[test]
    fn what_is_approved_is_what_was_seen_and_what_is_revoked_waits() {
        let mut pins = Pins::default();
        pins.trust_first(book(&[("read", "1")]));
        pins.hold(&book(&[("read", "3"), ("other", "1")]));
        pins.forget_held(&BTreeSet::from([PinKind::Tool]));
        assert_eq!(digests(&pins.held), pairs(&[("other", "1"), ("read", "3")]));
        pins.forget_held(&BTreeSet::new());
        pins.hold(&book(&[("read", "2"), ("write", "1")]));
        assert_eq!(pins.approve(|_, name| name == "write"), 1);
        assert_eq!(digests(&pins.approved), pairs(&[("read", "1"), ("write", "1")]));
        assert_eq!(digests(&pins.held), pairs(&[("read", "2")]));
        assert_eq!(pins.revoke(|_, _| true), 2);
        assert_eq!(digests(&pins.approved), pairs(&[]));
        assert_eq!(digests(&pins.held), pairs(&[("read", "2"), ("write", "1")]));
    }

    #[test]
    fn a_file_that_cannot_be_read_is_an_error_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = Pins::file(folder.path(), "id");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "{").unwrap();
        assert!(Pins::load(folder.path(), "id").unwrap_err().hint.is_some());
        assert!(Pins::change(folder.path(), "id", |_| {}).is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "{");
    }
}
