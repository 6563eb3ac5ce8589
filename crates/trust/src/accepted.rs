//! The file of accepted definitions: those a person approved despite the scanner's findings.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use switchboard_catalog::{Acceptance, AcceptedFindings, DefinitionVersion};
use switchboard_document::{ConfigError, edit_locked, read_text};

/// Returns an acceptance of this definition and these rules, with the current time.
#[must_use]
pub fn new_acceptance<'a>(
    definition: DefinitionVersion<'_>,
    rules: impl Iterator<Item = &'a str>,
) -> Acceptance {
    Acceptance {
        kind: definition.kind.to_owned(),
        name: definition.name.to_owned(),
        digest: definition.digest.to_owned(),
        rules: rules.map(str::to_owned).collect(),
        at: Timestamp::now().to_string(),
    }
}

pub(crate) fn accepted_file(state: &Path) -> PathBuf {
    state.join("accepted.json")
}

/// Reads the accepted definitions; empty if the file does not exist.
pub(crate) fn load_accepted(state: &Path) -> Result<AcceptedFindings, ConfigError> {
    let path = accepted_file(state);
    let text = read_text(&path)?;
    text.map(|text| parse(&path, &text)).transpose().map(Option::unwrap_or_default)
}

/// Adds acceptances for a server, replacing earlier ones of the same definitions.
pub fn add_accepted(state: &Path, identity: &str, new: Vec<Acceptance>) -> Result<(), ConfigError> {
    edit(state, |all| {
        let known = all.servers.entry(identity.to_owned()).or_default();
        known.retain(|old| !new.iter().any(|one| (&one.kind, &one.name) == (&old.kind, &old.name)));
        known.extend(new);
    })
}

/// Removes the acceptances of a server whose names match `wanted`, and returns their number.
pub fn remove_accepted(
    state: &Path,
    identity: &str,
    wanted: impl Fn(&str) -> bool,
) -> Result<usize, ConfigError> {
    // Most servers have no acceptances; the file is not created or locked for them.
    if !load_accepted(state)?.servers.contains_key(identity) {
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

fn edit(state: &Path, edit: impl FnOnce(&mut AcceptedFindings)) -> Result<(), ConfigError> {
    let path = accepted_file(state);
    edit_locked(&path, |before| {
        let mut all = before.map(|text| parse(&path, text)).transpose()?.unwrap_or_default();
        edit(&mut all);
        all.servers.retain(|_, known| !known.is_empty());
        serde_json::to_string_pretty(&all)
            .map(|text| text + "\n")
            .map_err(|cause| ConfigError::new(path.as_path(), cause.to_string()))
    })
}

fn parse(path: &Path, text: &str) -> Result<AcceptedFindings, ConfigError> {
    serde_json::from_str(text).map_err(|cause| {
        ConfigError::new(path, format!("invalid file of accepted findings: {cause}"))
            .hint("remove the file, then review the quarantined definitions and approve them again")
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
        add_accepted(state, "id", vec![acceptance("add", "1", &["a", "b"])]).unwrap();
        let all = load_accepted(state).unwrap();
        let covers = |identity: &str, name: &str, digest: &str, rules: &[&str]| {
            let definition = DefinitionVersion { kind: "tool", name, digest };
            all.covers(identity, definition, rules.iter().copied())
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
        add_accepted(state, "id", vec![acceptance("add", "1", &["a"])]).unwrap();
        add_accepted(state, "id", vec![acceptance("add", "2", &["a"])]).unwrap();
        let known = load_accepted(state).unwrap().servers.remove("id").unwrap();
        assert_eq!(known, [acceptance("add", "2", &["a"])]);
        assert_eq!(remove_accepted(state, "id", |name| name == "sub").unwrap(), 0);
        assert_eq!(remove_accepted(state, "id", |name| name == "add").unwrap(), 1);
        assert_eq!(load_accepted(state).unwrap(), AcceptedFindings::default());
        assert_eq!(remove_accepted(state, "id", |_| true).unwrap(), 0);
    }
}
