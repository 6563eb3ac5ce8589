//! `LockFile`: the definitions a project was written against, in a file of the project.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use switchboard_config::{Config, ServerConfig, Transport};
use switchboard_document::{ConfigError, edit_locked, read_text};

use crate::packages::locked::LockedPackage;
use crate::pins_file::{DefinitionMap, PinKind, PinnedDefinition, Pins};

const FILE_NAME: &str = "switchboard.lock";
const VERSION: u32 = 1;
/// Programs that download a package before they run it.
const RUNNERS: [&str; 6] = ["npx", "pnpx", "bunx", "uvx", "pipx", "docker"];

/// The servers and definitions that a project was written against.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockFile {
    version: u32,
    pub servers: BTreeMap<String, LockedServer>,
    #[serde(skip)]
    folder: PathBuf,
    /// Servers that must not be started, with the reasons.
    #[serde(skip)]
    refused: BTreeMap<String, String>,
}

/// A server at the time of locking.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockedServer {
    /// Fingerprint of the server's command or URL.
    pub identity: String,
    /// The name and version that the server reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The package that the command downloads and runs, as written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub package: Option<String>,
    /// The downloaded packages with exact versions and digests, where known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub packages: Vec<LockedPackage>,
    /// Fingerprints of the definitions, by kind and name.
    pub definitions: BTreeMap<PinKind, BTreeMap<String, String>>,
}

impl LockFile {
    /// Creates an empty lock for a folder.
    #[must_use]
    pub const fn new(folder: PathBuf) -> Self {
        Self { version: VERSION, servers: BTreeMap::new(), folder, refused: BTreeMap::new() }
    }

    /// Returns the path of a folder's lock file.
    #[must_use]
    pub fn file(folder: &Path) -> PathBuf {
        folder.join(FILE_NAME)
    }

    /// Reads the lock file of a folder; a missing file is an error.
    pub fn load(folder: &Path) -> Result<Self, ConfigError> {
        let path = Self::file(folder);
        let Some(text) = read_text(&path)? else {
            let error = ConfigError::new(path, "no lock file");
            return Err(error.hint("create one with `switchboard lock`"));
        };
        let lock: Self = serde_json::from_str(&text).map_err(|cause| {
            ConfigError::new(path.as_path(), format!("invalid lock file: {cause}"))
                .hint("recreate it with `switchboard lock`")
        })?;
        if lock.version != VERSION {
            return Err(ConfigError::new(path, "the lock file was written by another version")
                .hint("recreate it with `switchboard lock`"));
        }
        Ok(Self { folder: folder.to_owned(), ..lock })
    }

    /// Writes the lock file and returns its path.
    pub fn save(&self) -> Result<PathBuf, ConfigError> {
        let path = Self::file(&self.folder);
        edit_locked(&path, |_| {
            serde_json::to_string_pretty(self)
                .map(|text| text + "\n")
                .map_err(|cause| ConfigError::new(path.as_path(), cause.to_string()))
        })?;
        Ok(path)
    }

    /// Locks the offers of a server and the version that it reported.
    pub fn insert(&mut self, server: &ServerConfig, told: Option<String>, offers: &DefinitionMap) {
        let digests = |items: &BTreeMap<String, PinnedDefinition>| {
            items.iter().map(|(name, item)| (name.clone(), item.digest.clone())).collect()
        };
        let locked = LockedServer {
            identity: self.identity(server),
            server: told,
            package: runner_package(&server.transport),
            packages: Vec::new(),
            definitions: offers.iter().map(|(kind, items)| (*kind, digests(items))).collect(),
        };
        self.servers.insert(server.id.to_string(), locked);
    }

    /// Returns the locked definitions of a server as pins, or `None` if the server is not locked.
    #[must_use]
    pub fn server_pins(&self, server: &ServerConfig) -> Option<Pins> {
        let locked = self.servers.get(server.id.as_str())?;
        // Another command or URL is another server, whatever its name and definitions.
        if locked.identity != self.identity(server) {
            return None;
        }
        let pinned = |digest: &String| PinnedDefinition {
            digest: digest.clone(),
            definition: RawValue::NULL.to_owned(),
            seen_by: None,
        };
        let items = |kind: PinKind| {
            let digests = locked.definitions.get(&kind).into_iter().flatten();
            (kind, digests.map(|(name, digest)| (name.clone(), pinned(digest))).collect())
        };
        let approved = PinKind::ALL.into_iter().map(items).collect();
        Some(Pins { approved, ..Pins::default() })
    }

    /// Returns whether a server reports the locked name and version; true if none are locked.
    #[must_use]
    pub fn matches_version(&self, server: &str, reported: Option<&str>) -> bool {
        let locked = self.servers.get(server).and_then(|locked| locked.server.as_deref());
        locked.is_none_or(|locked| Some(locked) == reported)
    }

    /// Sets the servers that must not be started, with the reasons.
    #[must_use]
    pub fn with_refused(self, refused: BTreeMap<String, String>) -> Self {
        Self { refused, ..self }
    }

    /// Returns why a server must not be started.
    pub fn refusal(&self, server: &str) -> Option<String> {
        self.refused.get(server).cloned()
    }

    fn identity(&self, server: &ServerConfig) -> String {
        // The project is in another folder on every machine.
        let folder = self.folder.to_string_lossy();
        server.identity_with(|text| text.replace(&*folder, "${workspaceFolder}"))
    }
}

/// Returns the package that a command downloads.
fn runner_package(transport: &Transport) -> Option<String> {
    let Transport::Stdio { command, args, .. } = transport else { return None };
    let program = Path::new(command).file_stem()?.to_str()?;
    if !RUNNERS.contains(&program) {
        return None;
    }
    let is_package = |word: &&String| !word.starts_with('-') && *word != "run" && *word != "x";
    args.iter().find(is_package).cloned()
}

/// Returns the names of the tools and prompts of all configured servers, from the pins below
/// `state` and the project's lock file. `None` for a server whose offers are unknown.
#[must_use]
pub fn offered_names(
    state: &Path,
    project: &Path,
    config: &Config,
) -> BTreeMap<String, Option<BTreeSet<String>>> {
    // Most folders have no lock file, and an invalid one is reported where it is enforced.
    let lock = LockFile::load(project).ok();
    let mut all = BTreeMap::new();
    for server in config.servers.values() {
        // Unreadable pins are reported elsewhere; here they count as unknown.
        let pins = Pins::load(state, &server.identity()).unwrap_or_default();
        let mut names = BTreeSet::new();
        let mut is_known = false;
        for kind in [PinKind::Tool, PinKind::Prompt] {
            for book in [&pins.approved, &pins.held] {
                is_known |= kind == PinKind::Tool && book.contains_key(&kind);
                names.extend(book.get(&kind).into_iter().flatten().map(|(name, _)| name.clone()));
            }
        }
        let locked = lock.as_ref().and_then(|lock| lock.servers.get(server.id.as_str()));
        if let Some(locked) = locked {
            is_known |= locked.definitions.contains_key(&PinKind::Tool);
            names.extend(locked.definitions.values().flat_map(BTreeMap::keys).cloned());
        }
        all.insert(server.id.to_string(), is_known.then_some(names));
    }
    all
}

#[cfg(test)]
mod tests {
    use switchboard_config::default_server;
    use switchboard_core::ServerId;

    use super::*;

    fn entry(folder: &str, args: &[&str]) -> ServerConfig {
        let args = args.iter().map(|word| (*word).to_owned()).collect();
        let env = BTreeMap::new();
        let cwd = Some(PathBuf::from(folder));
        let transport = Transport::Stdio { command: "npx".to_owned(), args, env, cwd };
        ServerConfig { transport, ..default_server(ServerId::new("srv").unwrap()) }
    }

    #[test]
    fn a_lock_knows_a_server_again_in_another_folder_and_no_other_command() {
        let folder = tempfile::tempdir().unwrap();
        let mut lock = LockFile::new(folder.path().to_owned());
        let here = folder.path().to_str().unwrap();
        lock.insert(&entry(here, &["-y", "pkg@1.0.0"]), None, &DefinitionMap::new());
        assert_eq!(lock.servers["srv"].package.as_deref(), Some("pkg@1.0.0"));
        let path = lock.save().unwrap();
        assert_eq!(LockFile::load(folder.path()).unwrap(), lock);
        let other = tempfile::tempdir().unwrap();
        std::fs::copy(path, LockFile::file(other.path())).unwrap();
        let moved = LockFile::load(other.path()).unwrap();
        let there = other.path().to_str().unwrap();
        assert!(moved.server_pins(&entry(there, &["-y", "pkg@1.0.0"])).is_some());
        assert!(moved.server_pins(&entry(there, &["-y", "pkg@1.0.1"])).is_none());
    }

    #[test]
    fn without_a_lock_there_is_an_error_with_a_next_step() {
        let folder = tempfile::tempdir().unwrap();
        assert!(LockFile::load(folder.path()).unwrap_err().hint.is_some());
        std::fs::write(LockFile::file(folder.path()), r#"{"version": 9, "servers": {}}"#).unwrap();
        assert!(LockFile::load(folder.path()).is_err());
    }
}
