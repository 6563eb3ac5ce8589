//! `Approvals`: which entries of project files a person has agreed to run.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::config::change::change;
use crate::config::error::ConfigError;
use crate::config::file::read_text;
use crate::server_id::ServerId;

/// Project file -> server -> digest of the approved entry.
type Table = BTreeMap<String, BTreeMap<String, String>>;

#[derive(Debug, Default, Serialize, Deserialize)]
struct OnDisk {
    approvals: Table,
}

/// What was approved, kept in the state folder, where no project can write.
///
/// An approval is for one entry of one file, exactly as it was read: if either changes, the server
/// waits again.
#[derive(Debug, Clone, Default)]
pub struct Approvals {
    path: PathBuf,
    table: Table,
    /// What was decided here and is not written yet: file, server, digest or none.
    changes: Vec<(String, String, Option<String>)>,
    problem: Option<ConfigError>,
}

impl Approvals {
    /// Where the approvals of a state folder are.
    #[must_use]
    pub fn file(state: &Path) -> PathBuf {
        state.join("approvals.json")
    }

    /// Reads the approvals of a state folder. If they cannot be read, nothing is approved, and
    /// loading a configuration reports why.
    pub fn load(state: &Path) -> Self {
        let path = Self::file(state);
        let (table, problem) = match read(&path) {
            Ok(table) => (table, None),
            Err(problem) => (Table::new(), Some(problem)),
        };
        Self { path, table, changes: Vec::new(), problem }
    }

    /// Agrees to run the server `name` of a project file as long as its entry has this digest, which
    /// is the `approval_digest` of the entry that the person was shown.
    pub fn approve(
        &mut self,
        file: &Path,
        name: &ServerId,
        digest: &str,
    ) -> Result<(), ConfigError> {
        self.decide(identity(file)?, name, Some(digest.to_owned()));
        Ok(())
    }

    /// Takes back the approval of the server `name` of a project file.
    pub fn revoke(&mut self, file: &Path, name: &ServerId) -> Result<(), ConfigError> {
        self.decide(identity(file)?, name, None);
        Ok(())
    }

    fn decide(&mut self, file: String, name: &ServerId, digest: Option<String>) {
        let decision = (file, name.to_string(), digest);
        record(&mut self.table, &decision);
        self.changes.push(decision);
    }

    /// Writes what was decided since `load`, on top of what others wrote meanwhile.
    ///
    /// This blocks for up to ten seconds if another process writes.
    pub fn save(&mut self) -> Result<(), ConfigError> {
        let mut table = Table::new();
        change(&self.path, |before| {
            table = before.map(|text| parse(&self.path, text)).transpose()?.unwrap_or_default();
            for decision in &self.changes {
                record(&mut table, decision);
            }
            let text = serde_json::to_string_pretty(&OnDisk { approvals: table.clone() });
            text.map(|text| text + "\n")
                .map_err(|cause| ConfigError::new(self.path.as_path(), cause.to_string()))
        })?;
        self.table = table;
        self.changes.clear();
        Ok(())
    }

    /// Whether this entry of this file is approved as it is.
    pub(super) fn holds(&self, file: &Path, name: &ServerId, digest: &str) -> bool {
        identity(file).is_ok_and(|file| {
            self.table.get(&file).and_then(|servers| servers.get(name.as_str())).map(String::as_str)
                == Some(digest)
        })
    }

    pub(super) fn problem(&self) -> Option<&ConfigError> {
        self.problem.as_ref()
    }
}

fn record(table: &mut Table, (file, name, digest): &(String, String, Option<String>)) {
    match digest {
        Some(digest) => {
            table.entry(file.clone()).or_default().insert(name.clone(), digest.clone());
        }
        None => {
            if let Some(servers) = table.get_mut(file) {
                servers.remove(name);
            }
            table.retain(|_, servers| !servers.is_empty());
        }
    }
}

fn read(path: &Path) -> Result<Table, ConfigError> {
    read_text(path)?.map(|text| parse(path, &text)).transpose().map(Option::unwrap_or_default)
}

fn parse(path: &Path, text: &str) -> Result<Table, ConfigError> {
    serde_json::from_str::<OnDisk>(text).map(|on_disk| on_disk.approvals).map_err(|cause| {
        ConfigError::new(path, format!("the approvals cannot be read: {cause}"))
            .hint("remove the file and approve the servers again")
    })
}

/// One spelling for one file: links, letter case and dots in a path make no second one.
fn identity(file: &Path) -> Result<String, ConfigError> {
    let real = fs::canonicalize(file)
        .map_err(|cause| ConfigError::new(file, format!("cannot be found: {cause}")))?;
    // The escaped form begins with a quote, so it cannot be mistaken for another path.
    Ok(real.to_str().map_or_else(|| format!("{real:?}"), str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fixture {
        folder: tempfile::TempDir,
        file: PathBuf,
        name: ServerId,
    }

    fn fixture() -> Fixture {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("switchboard.json");
        fs::write(&file, "{}").unwrap();
        Fixture { folder, file, name: ServerId::new("files").unwrap() }
    }

    #[test]
    fn an_approval_is_for_one_file_one_server_and_one_digest() {
        let Fixture { folder, file, name } = fixture();
        let state = folder.path().join("state");
        let mut approvals = Approvals::load(&state);
        approvals.approve(&file, &name, "d1").unwrap();
        approvals.save().unwrap();
        let approvals = Approvals::load(&state);
        assert!(approvals.holds(&file, &name, "d1"));
        assert!(!approvals.holds(&file, &name, "d2"));
        assert!(!approvals.holds(&file, &ServerId::new("Files").unwrap(), "d1"));
        let other = folder.path().join("other.json");
        fs::write(&other, "{}").unwrap();
        assert!(!approvals.holds(&other, &name, "d1"));
        assert!(!approvals.holds(&folder.path().join("none.json"), &name, "d1"));
    }

    #[test]
    fn a_revoked_approval_is_gone() {
        let Fixture { folder, file, name } = fixture();
        let mut approvals = Approvals::load(folder.path());
        approvals.approve(&file, &name, "d").unwrap();
        approvals.save().unwrap();
        approvals.revoke(&file, &name).unwrap();
        approvals.save().unwrap();
        assert!(!Approvals::load(folder.path()).holds(&file, &name, "d"));
        let text = fs::read_to_string(folder.path().join("approvals.json")).unwrap();
        assert_eq!(text, "{\n  \"approvals\": {}\n}\n");
    }

    #[test]
    fn two_writers_keep_each_others_decisions() {
        let Fixture { folder, file, name } = fixture();
        let other = ServerId::new("other").unwrap();
        let mut one = Approvals::load(folder.path());
        let mut two = Approvals::load(folder.path());
        one.approve(&file, &name, "d").unwrap();
        two.approve(&file, &other, "d").unwrap();
        one.save().unwrap();
        two.save().unwrap();
        let both = Approvals::load(folder.path());
        assert!(both.holds(&file, &name, "d") && both.holds(&file, &other, "d"));
        assert!(two.holds(&file, &name, "d"));
    }

    #[test]
    fn a_broken_file_approves_nothing_and_is_not_overwritten() {
        let Fixture { folder, file, name } = fixture();
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
        let Fixture { folder, file, name } = fixture();
        let link = folder.path().join("link.json");
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let mut approvals = Approvals::load(folder.path());
        approvals.approve(&link, &name, "d").unwrap();
        assert!(approvals.holds(&file, &name, "d"));
        let other = folder.path().join("other.json");
        fs::write(&other, "{}").unwrap();
        fs::remove_file(&link).unwrap();
        std::os::unix::fs::symlink(&other, &link).unwrap();
        assert!(!approvals.holds(&link, &name, "d"));
    }
}
