//! "Always" answers: tools that a person allowed permanently, each bound to the definition shown.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use switchboard_catalog::{Fleet, ResolvedCall};
use switchboard_config::{ConfigLayer, Environment, Places};
use switchboard_core::Target;
use switchboard_document::{ConfigError, edit_locked, read_text};

use crate::approvals::Approvals;
use crate::pins::pin_digest;

/// The definition that a person saw when answering "always".
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovedDefinition {
    pub identity: String,
    /// Fingerprint of the definition, as stored in pins.
    pub digest: String,
}

/// All "always" answers, by server and tool.
///
/// The tool is also in `autoApprove` of its server. An entry that is only there was written by hand
/// and applies to the name, whatever its definition.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AlwaysAnswers {
    pub always: BTreeMap<String, BTreeMap<String, ApprovedDefinition>>,
}

impl AlwaysAnswers {
    /// Returns the path of the file in a state folder.
    #[must_use]
    pub fn file(state: &Path) -> PathBuf {
        state.join("remembered.json")
    }

    /// Reads the answers; empty if the file does not exist.
    pub fn load(state: &Path) -> Result<Self, ConfigError> {
        let path = Self::file(state);
        let text = read_text(&path)?;
        text.map(|text| parse(&path, &text)).transpose().map(Option::unwrap_or_default)
    }

    /// Stores or removes the answer for a tool; returns whether there was one before.
    pub fn set(
        state: &Path,
        server: &str,
        tool: &str,
        bound: Option<ApprovedDefinition>,
    ) -> Result<bool, ConfigError> {
        let path = Self::file(state);
        let mut was_there = false;
        edit_locked(&path, |before| {
            let mut all = before.map(|text| parse(&path, text)).transpose()?.unwrap_or_default();
            let tools = all.always.entry(server.to_owned()).or_default();
            was_there = match bound {
                Some(bound) => tools.insert(tool.to_owned(), bound).is_some(),
                None => tools.remove(tool).is_some(),
            };
            all.always.retain(|_, tools| !tools.is_empty());
            serde_json::to_string_pretty(&all)
                .map(|text| text + "\n")
                .map_err(|cause| ConfigError::new(path.as_path(), cause.to_string()))
        })?;
        Ok(was_there)
    }
}

/// The tools that a person has always allowed, in the files and since this host started.
#[derive(Debug)]
pub struct AlwaysAllowed {
    places: Places,
    environment: Environment,
    /// Definition behind each answer since the start, because the files are reloaded later.
    since_start: Mutex<BTreeMap<Target, Arc<str>>>,
}

impl AlwaysAllowed {
    /// Creates an instance without any answers.
    #[must_use]
    pub const fn new(places: Places, environment: Environment) -> Self {
        Self { places, environment, since_start: Mutex::new(BTreeMap::new()) }
    }

    /// Returns whether a person has answered "always" to the tool's definition since the start.
    #[must_use]
    pub fn allows(&self, target: &Target, fleet: &Fleet) -> bool {
        let since_start = self.since_start.lock();
        let Some(digest) = since_start.get(target) else { return false };
        let server = fleet.servers.get(target.server.as_str());
        let tool = server.and_then(|server| server.offers.tool(&target.name));
        tool.is_some_and(|tool| tool.digest() == digest)
    }

    /// Adds a person's "always" answer to the file that configures the tool's server.
    pub fn allow(&self, call: &ResolvedCall) -> Result<(), ConfigError> {
        let Self { places, environment, .. } = self;
        let target = call.target();
        let tool = call.server().offers.tool(&target.name);
        let (Some(server), Some(listed)) = (&call.server().config, tool) else { return Ok(()) };
        let tool = target.name.as_str();
        let source = Some(&server.source.file).filter(|file| !file.as_os_str().is_empty());
        let Some(file) = source.or(places.user.as_ref()) else { return Ok(()) };
        let mut approvals = Approvals::load(&places.state);
        let entry_now = |approvals: &Approvals| {
            switchboard_config::load(places, environment, approvals).servers.remove(&server.id)
        };
        // Do not renew the approval of an entry that was edited since the person approved it.
        let unchanged = server.source.layer == ConfigLayer::Project
            && entry_now(&approvals)
                .is_some_and(|entry| entry.approval_digest == server.approval_digest);
        // Write the definition first: the name alone would allow any definition.
        let digest = pin_digest(listed.item.raw.get());
        let bound = ApprovedDefinition { identity: server.identity(), digest };
        AlwaysAnswers::set(&places.state, server.id.as_str(), tool, Some(bound))?;
        switchboard_config::add_auto_approve(file, server.id.as_str(), tool)?;
        self.since_start.lock().insert(target.clone(), Arc::clone(listed.digest()));
        // An approval covers the exact text of a project's entry, which now contains the tool.
        if unchanged && let Some(entry) = entry_now(&approvals) {
            approvals.approve_entry(&entry)?;
            approvals.save()?;
        }
        Ok(())
    }
}

fn parse(path: &Path, text: &str) -> Result<AlwaysAnswers, ConfigError> {
    serde_json::from_str(text).map_err(|cause| {
        ConfigError::new(path, format!("invalid file of \"always\" answers: {cause}"))
            .hint("remove the file; its tools are then allowed by name, whatever their definition")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_remembered_is_found_and_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let bound = ApprovedDefinition { identity: "i".to_owned(), digest: "d".to_owned() };
        let change = |tool: &str, bound| AlwaysAnswers::set(folder.path(), "srv", tool, bound);
        assert!(!change("a", Some(bound.clone())).unwrap());
        assert!(change("a", Some(bound.clone())).unwrap());
        let always = BTreeMap::from([("a".to_owned(), bound)]);
        let expected = AlwaysAnswers { always: BTreeMap::from([("srv".to_owned(), always)]) };
        assert_eq!(AlwaysAnswers::load(folder.path()).unwrap(), expected);
        assert!(change("a", None).unwrap());
        assert!(!change("a", None).unwrap());
        assert_eq!(AlwaysAnswers::load(folder.path()).unwrap(), AlwaysAnswers::default());
    }
}
