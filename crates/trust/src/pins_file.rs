//! `Pins`: the approved definitions of a server, one file per server in the state folder.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use switchboard_config::Config;
use switchboard_core::{Target, TargetKind};
use switchboard_document::{ConfigError, edit_locked_within, read_text_within};
use switchboard_files::is_alive;

/// Maximum size of a pins file, in bytes; a server may list thousands of tools.
const MAX_FILE_BYTES: u64 = 64 * 1024 * 1024;

/// A kind of definition that can be pinned.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum PinKind {
    /// The server's instructions for models; the name is empty.
    Instructions,
    /// A tool that models can call.
    Tool,
    /// A prompt that users can select.
    Prompt,
    /// A template for the URIs of resources.
    Template,
}

/// A definition as a server offered it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PinnedDefinition {
    /// Fingerprint of the canonical text.
    pub digest: String,
    pub definition: Box<RawValue>,
    /// The process that recorded it, while it is held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen_by: Option<String>,
}

/// A process that records held definitions. It may change its own notes and those of ended ones.
pub(crate) struct PinWriter<'a> {
    /// `None` before the first note of this process.
    pub me: Option<&'a str>,
    /// Folder with the locks of the processes that have notes.
    pub owners: &'a Path,
}

/// Definitions by kind and name. A kind that is present, even if empty, has been listed.
pub(crate) type DefinitionMap = BTreeMap<PinKind, BTreeMap<String, PinnedDefinition>>;

/// The approved and the held definitions of one server.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Pins {
    pub server: String,
    /// The server's command or URL, for display.
    pub how: String,
    /// Approved definitions; empty if the server was never reviewed or trusted.
    pub approved: DefinitionMap,
    /// Definitions that wait for a review.
    pub held: DefinitionMap,
    /// Whether a person revoked the approval of the whole server.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub revoked: bool,
    /// Whether a person saw the server and has not approved it, which rules out automatic trust.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asked: bool,
}

impl PinKind {
    /// All kinds, in the order of display.
    pub const ALL: [Self; 4] = [Self::Instructions, Self::Tool, Self::Prompt, Self::Template];

    /// Returns the display name of the kind.
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
    /// Returns the path of the pins of the server with this identity.
    #[must_use]
    pub fn file(state: &Path, identity: &str) -> PathBuf {
        folder(state).join(format!("{identity}.json"))
    }

    /// Returns the folder with the locks of processes that hold definitions.
    pub fn owners_folder(state: &Path) -> PathBuf {
        folder(state).join("owners")
    }

    /// Reads the pins of a server; empty if the file does not exist.
    pub fn load(state: &Path, identity: &str) -> Result<Self, ConfigError> {
        let path = Self::file(state, identity);
        read_text_within(&path, MAX_FILE_BYTES)?
            .map(|text| parse(&path, &text))
            .transpose()
            .map(Option::unwrap_or_default)
    }

    /// Changes the pins of a server. Blocks for up to ten seconds while another process writes.
    pub fn edit(
        state: &Path,
        identity: &str,
        edit: impl FnOnce(&mut Self),
    ) -> Result<Self, ConfigError> {
        let path = Self::file(state, identity);
        let mut pins = Self::default();
        edit_locked_within(&path, MAX_FILE_BYTES, |before| {
            pins = before.map(|text| parse(&path, text)).transpose()?.unwrap_or_default();
            edit(&mut pins);
            serde_json::to_string(&pins)
                .map(|text| text + "\n")
                .map_err(|cause| ConfigError::new(path.as_path(), cause.to_string()))
        })?;
        Ok(pins)
    }

    /// Approves the definitions of a server on first use. Kinds that were decided before stay as
    /// they are, and nothing is approved if a person was asked.
    pub fn trust_first(&mut self, seen: DefinitionMap) {
        if self.asked {
            return;
        }
        for (kind, items) in seen {
            // Two processes may see a server first; whichever wrote first has decided.
            self.approved.entry(kind).or_insert(items);
        }
    }

    /// Records held definitions for other processes to show; returns whether the file changes.
    ///
    /// Kinds in `unlisted` are kept, because their definitions are unknown; `None` keeps all kinds.
    pub(crate) fn record_held(
        &mut self,
        held: &DefinitionMap,
        unlisted: Option<&BTreeSet<PinKind>>,
        writer: &PinWriter<'_>,
    ) -> bool {
        // Notes of another live process are kept: each process may run its own instance of the
        // server, and two that see different definitions would overwrite each other forever.
        let mut is_new = false;
        for (kind, notes) in &mut self.held {
            if unlisted.is_none_or(|unlisted| unlisted.contains(kind)) {
                continue;
            }
            // A definition that the server no longer offers must not be approved.
            let count = notes.len();
            let is_held = |name: &String| held.get(kind).is_some_and(|of| of.contains_key(name));
            notes.retain(|name, noted| is_held(name) || writer.is_foreign(noted));
            is_new |= notes.len() < count;
        }
        for (kind, items) in held {
            let notes = self.held.entry(*kind).or_default();
            for (name, item) in items {
                let before = notes.get(name);
                if before.is_some_and(|noted| writer.is_foreign(noted)) {
                    continue;
                }
                let seen_by = writer.me.map(str::to_owned);
                is_new |= before.is_none_or(|noted| {
                    noted.digest != item.digest
                        || noted.seen_by.is_none()
                        || noted.seen_by != seen_by
                });
                notes.insert(name.clone(), PinnedDefinition { seen_by, ..item.clone() });
            }
        }
        self.held.retain(|_, notes| !notes.is_empty());
        is_new
    }

    /// Approves exactly these definitions, whatever else was recorded under their names.
    pub fn approve_exact(&mut self, book: &DefinitionMap) {
        for (kind, items) in book {
            let held = self.held.entry(*kind).or_default();
            held.extend(items.iter().map(|(name, item)| (name.clone(), item.clone())));
        }
        self.approve(|kind, name| book.get(&kind).is_some_and(|of| of.contains_key(name)));
    }

    /// Approves the held definitions that match `wanted`, exactly as seen; returns their number.
    pub fn approve(&mut self, wanted: impl Fn(PinKind, &str) -> bool) -> usize {
        let mut count = 0;
        (self.revoked, self.asked) = (false, false);
        for kind in PinKind::ALL {
            let approved = self.approved.entry(kind).or_default();
            let Some(held) = self.held.get_mut(&kind) else { continue };
            held.retain(|name, item| {
                let is_wanted = wanted(kind, name);
                if is_wanted {
                    approved
                        .insert(name.clone(), PinnedDefinition { seen_by: None, ..item.clone() });
                    count += 1;
                }
                !is_wanted
            });
        }
        self.held.retain(|_, items| !items.is_empty());
        count
    }

    /// Revokes approvals, so that the definitions are held again; returns their number.
    pub fn revoke(&mut self, wanted: impl Fn(PinKind, &str) -> bool) -> usize {
        let mut count = 0;
        for (kind, items) in &mut self.approved {
            let held = self.held.entry(*kind).or_default();
            items.retain(|name, item| {
                let is_wanted = wanted(*kind, name);
                if is_wanted {
                    // A newer definition that is held already is the one to review.
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

impl PinWriter<'_> {
    fn is_foreign(&self, noted: &PinnedDefinition) -> bool {
        let by = noted.seen_by.as_deref().filter(|by| self.me != Some(*by));
        by.is_some_and(|by| is_alive(self.owners, by))
    }
}

fn folder(state: &Path) -> PathBuf {
    state.join("pins")
}

fn parse(path: &Path, text: &str) -> Result<Pins, ConfigError> {
    serde_json::from_str(text).map_err(|cause| {
        ConfigError::new(path, format!("invalid pins file: {cause}"))
            .hint("remove the file, then review the server's definitions and approve them again")
    })
}

/// The latest known annotations of tools. A recorded call stores only the fingerprint of its
/// definition, so the annotations of that time are not available.
#[derive(Debug, Default)]
pub struct PinnedAnnotations(HashMap<(String, String), Box<RawValue>>);

impl PinnedAnnotations {
    /// Reads the annotations from the pins below `state`.
    #[must_use]
    pub fn load(state: &Path, config: &Config) -> Self {
        #[derive(Deserialize)]
        struct AnnotatedTool {
            annotations: Option<Box<RawValue>>,
        }
        let mut all = HashMap::new();
        for server in config.servers.values() {
            // Without readable pins, the tools of the server are unknown.
            let pins = Pins::load(state, &server.identity()).unwrap_or_default();
            // Approved annotations come last and replace those of a held definition.
            for book in [&pins.held, &pins.approved] {
                for (name, item) in book.get(&PinKind::Tool).into_iter().flatten() {
                    let tool = serde_json::from_str::<AnnotatedTool>(item.definition.get());
                    if let Ok(AnnotatedTool { annotations: Some(annotations) }) = tool {
                        all.insert((server.id.to_string(), name.clone()), annotations);
                    }
                }
            }
        }
        Self(all)
    }

    /// Returns the annotations of a tool as JSON.
    #[must_use]
    pub fn get(&self, target: &Target) -> Option<&str> {
        let key = (target.server.clone(), target.name.clone());
        self.0.get(&key).filter(|_| target.kind == TargetKind::Tool).map(|raw| raw.get())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use switchboard_files::ProcessLock;

    use super::*;

    fn book(names: &[(&str, &str)]) -> DefinitionMap {
        let item = |(name, digest): &(&str, &str)| {
            let definition = RawValue::from_string(format!("{{\"name\":\"{name}\"}}")).unwrap();
            (
                (*name).to_owned(),
                PinnedDefinition { digest: (*digest).to_owned(), definition, seen_by: None },
            )
        };
        BTreeMap::from([(PinKind::Tool, names.iter().map(item).collect())])
    }

    fn digests(book: &DefinitionMap) -> Vec<(String, String)> {
        let items = book.get(&PinKind::Tool).into_iter().flatten();
        items.map(|(name, item)| (name.clone(), item.digest.clone())).collect()
    }

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, digest)| ((*name).to_owned(), (*digest).to_owned())).collect()
    }

    #[test]
    fn the_first_one_to_see_a_server_decides_what_it_was_first() {
        let folder = tempfile::tempdir().unwrap();
        let first = |book| Pins::edit(folder.path(), "id", |pins| pins.trust_first(book));
        first(book(&[("read", "1")])).unwrap();
        let pins = first(book(&[("read", "2"), ("write", "1")])).unwrap();
        assert_eq!(digests(&pins.approved), pairs(&[("read", "1")]));
        let again = Pins::load(folder.path(), "id").unwrap();
        assert_eq!(digests(&again.approved), pairs(&[("read", "1")]));
    }

    #[test]
    fn what_is_approved_is_what_was_seen_and_what_is_revoked_waits() {
        let owners = tempfile::tempdir().unwrap();
        let noting = PinWriter { me: Some("me"), owners: owners.path() };
        let mut pins = Pins::default();
        pins.trust_first(book(&[("read", "1")]));
        let unlisted = BTreeSet::from([PinKind::Tool]);
        pins.record_held(&book(&[("read", "3"), ("other", "1")]), Some(&unlisted), &noting);
        pins.record_held(&DefinitionMap::new(), Some(&unlisted), &noting);
        pins.record_held(&DefinitionMap::new(), None, &noting);
        assert_eq!(digests(&pins.held), pairs(&[("other", "1"), ("read", "3")]));
        pins.record_held(&book(&[("read", "2"), ("write", "1")]), Some(&BTreeSet::new()), &noting);
        assert_eq!(pins.approve(|_, name| name == "write"), 1);
        assert_eq!(digests(&pins.approved), pairs(&[("read", "1"), ("write", "1")]));
        assert_eq!(digests(&pins.held), pairs(&[("read", "2")]));
        assert_eq!(pins.revoke(|_, _| true), 2);
        assert_eq!(digests(&pins.approved), pairs(&[]));
        assert_eq!(digests(&pins.held), pairs(&[("read", "2"), ("write", "1")]));
        pins.approve_exact(&book(&[("read", "4")]));
        assert_eq!(digests(&pins.approved), pairs(&[("read", "4")]));
    }

    #[test]
    fn what_a_process_holds_stays_noted_as_long_as_it_lives_and_nobody_writes_in_turns() {
        let owners = tempfile::tempdir().unwrap();
        let claim = || ProcessLock::claim_and_prune(owners.path()).unwrap();
        let one = claim();
        let two = claim();
        let by = |owner: &ProcessLock, pins: &mut Pins, items: &[(&str, &str)]| {
            let noting = PinWriter { me: Some(owner.name()), owners: owners.path() };
            let held = if items.is_empty() { DefinitionMap::new() } else { book(items) };
            pins.record_held(&held, Some(&BTreeSet::new()), &noting)
        };
        let mut pins = Pins::default();
        assert!(by(&one, &mut pins, &[("grown", "1")]));
        assert!(!by(&one, &mut pins, &[("grown", "1")]));
        // The other process sees nothing of it, or another definition under the same name.
        assert!(!by(&two, &mut pins, &[]));
        assert!(!by(&two, &mut pins, &[("grown", "2")]));
        assert!(by(&two, &mut pins, &[("other", "1")]));
        assert!(!by(&one, &mut pins, &[("grown", "1")]));
        assert_eq!(digests(&pins.held), pairs(&[("grown", "1"), ("other", "1")]));
        // After the approval, the name is free for the other process's definition.
        assert_eq!(pins.approve(|_, name| name == "grown"), 1);
        assert!(by(&two, &mut pins, &[("grown", "2"), ("other", "1")]));
        drop(two);
        assert!(by(&one, &mut pins, &[]));
        assert_eq!(digests(&pins.held), pairs(&[]));
    }

    #[test]
    fn a_file_that_cannot_be_read_is_an_error_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = Pins::file(folder.path(), "id");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "{").unwrap();
        assert!(Pins::load(folder.path(), "id").unwrap_err().hint.is_some());
        assert!(Pins::edit(folder.path(), "id", |_| {}).is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "{");
    }
}
