//! `AlwaysAnswers`: the definition that each "always" answer was given for, so that it covers no other.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use switchboard_document::{ConfigError, edit_locked, read_text};

/// The definition that a person had before them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovedDefinition {
    /// The server's identity.
    pub identity: String,
    /// The fingerprint of the definition, as pins have it.
    pub digest: String,
}

/// Every "always", by server and tool.
///
/// The tool is in `autoApprove` of its server as well. What stands there and not here, a person
/// wrote by hand: that is meant for the name, whatever is behind it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AlwaysAnswers {
    /// Server, tool, definition.
    pub always: BTreeMap<String, BTreeMap<String, ApprovedDefinition>>,
}

impl AlwaysAnswers {
    /// Where it is kept below a state folder.
    #[must_use]
    pub fn file(state: &Path) -> PathBuf {
        state.join("remembered.json")
    }

    /// What is remembered; nothing without a file.
    ///
    /// # Errors
    /// When the file is there and cannot be used.
    pub fn load(state: &Path) -> Result<Self, ConfigError> {
        let path = Self::file(state);
        let text = read_text(&path)?;
        text.map(|text| parse(&path, &text)).transpose().map(Option::unwrap_or_default)
    }

    /// Remembers, or forgets, what was said for a tool; gives whether something was there before.
    ///
    /// # Errors
    /// When it cannot be written.
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

fn parse(path: &Path, text: &str) -> Result<AlwaysAnswers, ConfigError> {
    serde_json::from_str(text).map_err(|cause| {
        ConfigError::new(path, format!("what is always allowed cannot be read: {cause}"))
            .hint("remove the file; what it was about is then allowed by name alone")
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
