//! `Approvals`: the entries of project files that a person has approved.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use switchboard_config::{Consents, ServerConfig};
use switchboard_core::ServerId;
use switchboard_document::{ConfigError, edit_locked, read_text};

use crate::always_answers::AlwaysAnswers;

/// Values by project file and server.
type ApprovalTable = BTreeMap<String, BTreeMap<String, String>>;

/// The key for the hooks of a file, used like a server's name.
const HOOKS_KEY: &str = "hooks";

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct ApprovalsFile {
    approvals: ApprovalTable,
    /// Texts of the approved entries, without the values of variables and headers.
    #[serde(default, skip_serializing_if = "ApprovalTable::is_empty")]
    entries: ApprovalTable,
}

/// The approvals, kept in the state folder, where no project can write.
///
/// An approval covers one entry of one file, exactly as it was read; a change needs a new approval.
#[derive(Debug, Clone, Default)]
pub struct Approvals {
    path: PathBuf,
    table: ApprovalTable,
    entries: ApprovalTable,
    /// Unsaved changes of `table` and of `entries`.
    changes: Vec<TableChange>,
    shown: Vec<TableChange>,
    problem: Option<ConfigError>,
}

/// A new value for a server of a file; `None` removes it.
#[derive(Debug, Clone)]
struct TableChange {
    file: String,
    server: String,
    value: Option<String>,
}

impl Approvals {
    /// Returns the path of the file in a state folder.
    #[must_use]
    pub fn file(state: &Path) -> PathBuf {
        state.join("approvals.json")
    }

    /// Reads the approvals of a state folder. An unreadable file approves no server, and loading a
    /// configuration reports the problem.
    pub fn load(state: &Path) -> Self {
        let path = Self::file(state);
        let (read, problem) = match read(&path) {
            Ok(read) => (read, None),
            Err(problem) => (ApprovalsFile::default(), Some(problem)),
        };
        let ApprovalsFile { approvals: table, entries } = read;
        Self { path, table, entries, changes: Vec::new(), shown: Vec::new(), problem }
    }

    /// Approves the server `name` of a project file as long as its entry has this digest, which is
    /// the `approval_digest` of the entry that the person was shown.
    pub fn approve(
        &mut self,
        file: &Path,
        name: &ServerId,
        digest: &str,
    ) -> Result<(), ConfigError> {
        self.record_decision(file_identity(file)?, name.as_str(), Some(digest.to_owned()));
        Ok(())
    }

    /// Approves an entry as it was read, and keeps its text for comparison with later versions.
    pub fn approve_entry(&mut self, server: &ServerConfig) -> Result<(), ConfigError> {
        let file = file_identity(&server.source.file)?;
        let value = Some(server.lines().join("\n"));
        self.shown.push(TableChange { file, server: server.id.to_string(), value });
        self.approve(&server.source.file, &server.id, &server.approval_digest)
    }

    /// Returns the text of a server's entry at its last approval.
    #[must_use]
    pub fn approved_text(&self, file: &Path, name: &ServerId) -> Option<&str> {
        let file = file_identity(file).ok()?;
        self.entries.get(&file)?.get(name.as_str()).map(String::as_str)
    }

    /// Revokes the approval of the server `name` of a project file.
    pub fn revoke(&mut self, file: &Path, name: &ServerId) -> Result<(), ConfigError> {
        self.record_decision(file_identity(file)?, name.as_str(), None);
        Ok(())
    }

    fn record_decision(&mut self, file: String, name: &str, digest: Option<String>) {
        let decision = TableChange { file, server: name.to_owned(), value: digest };
        decision.apply(&mut self.table);
        self.changes.push(decision);
    }

    /// Writes the changes since `load`. Blocks for up to ten seconds while another process writes.
    pub fn save(&mut self) -> Result<(), ConfigError> {
        let mut written = ApprovalsFile::default();
        edit_locked(&self.path, |before| {
            // Apply the changes to the file as it is, which keeps the decisions of other processes.
            written = before.map(|text| parse(&self.path, text)).transpose()?.unwrap_or_default();
            for decision in &self.changes {
                decision.apply(&mut written.approvals);
            }
            for entry in &self.shown {
                entry.apply(&mut written.entries);
            }
            let text = serde_json::to_string_pretty(&written);
            text.map(|text| text + "\n")
                .map_err(|cause| ConfigError::new(self.path.as_path(), cause.to_string()))
        })?;
        self.table = written.approvals;
        self.entries = written.entries;
        self.changes.clear();
        self.shown.clear();
        Ok(())
    }

    fn is_approved(&self, file: &Path, name: &ServerId, digest: &str) -> bool {
        file_identity(file).is_ok_and(|file| {
            self.table.get(&file).and_then(|servers| servers.get(name.as_str())).map(String::as_str)
                == Some(digest)
        })
    }

    /// Returns the approved digest of a project's hooks file.
    pub fn hooks_digest(&self, file: &Path) -> Option<&str> {
        let mut names = hook_names(file).into_iter();
        names.find_map(|name| self.table.get(&name)?.get(HOOKS_KEY).map(String::as_str))
    }

    /// Approves the hooks of a project's file as long as they have this digest.
    pub fn approve_hooks(&mut self, file: &Path, digest: &str) -> Result<(), ConfigError> {
        // An approval that no name can find again is an error, not a silent success.
        file_identity(file)?;
        for name in hook_names(file) {
            self.record_decision(name, HOOKS_KEY, Some(digest.to_owned()));
        }
        Ok(())
    }

    /// Revokes the approval of a project's hooks file.
    pub fn revoke_hooks(&mut self, file: &Path) -> Result<(), ConfigError> {
        for name in hook_names(file) {
            self.record_decision(name, HOOKS_KEY, None);
        }
        Ok(())
    }
}

impl Consents for Approvals {
    fn approves(&self, file: &Path, server: &ServerId, digest: &str) -> bool {
        self.is_approved(file, server, digest)
    }

    fn always(&self, server: &ServerId) -> BTreeSet<String> {
        // Fail closed: an unreadable file allows no tool.
        let remembered = self.path.parent().and_then(|state| AlwaysAnswers::load(state).ok());
        let mut always = remembered.unwrap_or_default().always;
        always.remove(server.as_str()).unwrap_or_default().into_keys().collect()
    }

    fn problem(&self) -> Option<&ConfigError> {
        self.problem.as_ref()
    }
}

impl TableChange {
    fn apply(&self, table: &mut ApprovalTable) {
        match &self.value {
            Some(value) => {
                let servers = table.entry(self.file.clone()).or_default();
                servers.insert(self.server.clone(), value.clone());
            }
            None => {
                if let Some(servers) = table.get_mut(&self.file) {
                    servers.remove(&self.server);
                }
                table.retain(|_, servers| !servers.is_empty());
            }
        }
    }
}

fn read(path: &Path) -> Result<ApprovalsFile, ConfigError> {
    read_text(path)?.map(|text| parse(path, &text)).transpose().map(Option::unwrap_or_default)
}

fn parse(path: &Path, text: &str) -> Result<ApprovalsFile, ConfigError> {
    serde_json::from_str(text).map_err(|cause| {
        ConfigError::new(path, format!("invalid approvals file: {cause}"))
            .hint("remove the file and approve the servers again")
    })
}

/// Returns a unique name for a file, whatever symbolic links, letter case and dots its path has.
fn file_identity(file: &Path) -> Result<String, ConfigError> {
    let real = fs::canonicalize(file)
        .or_else(|cause| missing_file_path(file).ok_or(cause))
        .map_err(|cause| ConfigError::new(file, format!("cannot be found: {cause}")))?;
    // The escaped form begins with a quote, so it cannot collide with an absolute path.
    Ok(real.to_str().map_or_else(|| format!("{real:?}"), str::to_owned))
}

/// Returns the names of a project's hooks file: its path within the project, which is valid even if
/// the file's folder was removed or is a symbolic link, and its canonical path.
fn hook_names(file: &Path) -> BTreeSet<String> {
    let in_project = || {
        let folder = file.parent()?;
        let project = fs::canonicalize(folder.parent()?).ok()?;
        let place = project.join(folder.file_name()?).join(file.file_name()?);
        Some(place.to_str().map_or_else(|| format!("{place:?}"), str::to_owned))
    };
    in_project().into_iter().chain(file_identity(file).ok()).collect()
}

fn missing_file_path(file: &Path) -> Option<PathBuf> {
    let folder = fs::canonicalize(file.parent()?).ok()?;
    Some(folder.join(file.file_name()?))
}

#[cfg(test)]
#[path = "approvals_tests.rs"]
mod loading_tests;

#[cfg(test)]
mod tests {
    use super::*;

    struct ApprovalsFixture {
        folder: tempfile::TempDir,
        file: PathBuf,
        name: ServerId,
    }

    fn fixture() -> ApprovalsFixture {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("switchboard.json");
        fs::write(&file, "{}").unwrap();
        ApprovalsFixture { folder, file, name: ServerId::new("files").unwrap() }
    }

    #[test]
    fn an_approval_is_for_one_file_one_server_and_one_digest() {
        let ApprovalsFixture { folder, file, name } = fixture();
        let state = folder.path().join("state");
        let mut approvals = Approvals::load(&state);
        approvals.approve(&file, &name, "d1").unwrap();
        approvals.save().unwrap();
        let approvals = Approvals::load(&state);
        assert!(approvals.is_approved(&file, &name, "d1"));
        assert!(!approvals.is_approved(&file, &name, "d2"));
        assert!(!approvals.is_approved(&file, &ServerId::new("Files").unwrap(), "d1"));
        let other = folder.path().join("other.json");
        fs::write(&other, "{}").unwrap();
        assert!(!approvals.is_approved(&other, &name, "d1"));
        assert!(!approvals.is_approved(&folder.path().join("none.json"), &name, "d1"));
    }

    #[test]
    fn a_revoked_approval_is_gone() {
        let ApprovalsFixture { folder, file, name } = fixture();
        let mut approvals = Approvals::load(folder.path());
        approvals.approve(&file, &name, "d").unwrap();
        approvals.save().unwrap();
        approvals.revoke(&file, &name).unwrap();
        approvals.save().unwrap();
        assert!(!Approvals::load(folder.path()).is_approved(&file, &name, "d"));
        let text = fs::read_to_string(folder.path().join("approvals.json")).unwrap();
        assert_eq!(text, "{\n  \"approvals\": {}\n}\n");
    }

    #[test]
    fn two_writers_keep_each_others_decisions() {
        let ApprovalsFixture { folder, file, name } = fixture();
        let other = ServerId::new("other").unwrap();
        let mut one = Approvals::load(folder.path());
        let mut two = Approvals::load(folder.path());
        one.approve(&file, &name, "d").unwrap();
        two.approve(&file, &other, "d").unwrap();
        one.save().unwrap();
        two.save().unwrap();
        let both = Approvals::load(folder.path());
        assert!(both.is_approved(&file, &name, "d") && both.is_approved(&file, &other, "d"));
        assert!(two.is_approved(&file, &name, "d"));
    }

    #[test]
    fn a_broken_file_approves_nothing_and_is_not_overwritten() {
        let ApprovalsFixture { folder, file, name } = fixture();
        let path = folder.path().join("approvals.json");
        fs::write(&path, "{\"approvals\": ").unwrap();
        let mut approvals = Approvals::load(folder.path());
        assert!(approvals.problem().is_some());
        approvals.approve(&file, &name, "d").unwrap();
        let hint = "remove the file and approve the servers again";
        assert_eq!(approvals.save().unwrap_err().hint.as_deref(), Some(hint));
        assert_eq!(fs::read_to_string(&path).unwrap(), "{\"approvals\": ");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_the_file_it_points_to() {
        let ApprovalsFixture { folder, file, name } = fixture();
        let link = folder.path().join("link.json");
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let mut approvals = Approvals::load(folder.path());
        approvals.approve(&link, &name, "d").unwrap();
        assert!(approvals.is_approved(&file, &name, "d"));
        let other = folder.path().join("other.json");
        fs::write(&other, "{}").unwrap();
        fs::remove_file(&link).unwrap();
        std::os::unix::fs::symlink(&other, &link).unwrap();
        assert!(!approvals.is_approved(&link, &name, "d"));
    }
}
