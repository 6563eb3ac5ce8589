//! Changes of entries, whatever a file is made of.

use serde_json::Value;

use crate::error::DialectError;
use crate::files::{json, toml, yaml_edit};
use crate::grammar::{FileFormat, OutsideChange};

/// What one entry is to become.
#[derive(Debug)]
pub(crate) struct EntryChange {
    pub(crate) key: String,
    /// What it says, in the order in which new members are written.
    pub(crate) members: Vec<(String, Value)>,
    /// The members that go away if they are not among these; others stay.
    pub(crate) keys: &'static [&'static str],
}

/// The text with the changes made.
pub(crate) fn change(
    format: FileFormat,
    text: &str,
    path: &[&str],
    changes: &[EntryChange],
    outside: &[OutsideChange],
) -> Result<String, DialectError> {
    if changes.is_empty() && outside.is_empty() {
        return Ok(text.to_owned());
    }
    let (mark, bare) = match text.strip_prefix('\u{feff}') {
        Some(bare) => ("\u{feff}", bare),
        None => ("", text),
    };
    let changed = match format {
        FileFormat::Json => json::change(bare, path, changes, outside)?,
        FileFormat::Toml => toml::change(bare, path, changes)?,
        FileFormat::Yaml => yaml_edit::change(bare, path, changes)?,
    };
    Ok(format!("{mark}{changed}"))
}

impl EntryChange {
    /// What a member is to become; `None` takes it away.
    pub(crate) fn member_changes(&self) -> impl Iterator<Item = (&str, Option<&Value>)> {
        let has = |key: &str| self.members.iter().any(|(name, _)| name == key);
        let gone = self.keys.iter().filter(move |key| !has(key)).map(|key| (*key, None));
        let there = self.members.iter().map(|(name, value)| (name.as_str(), Some(value)));
        gone.chain(there)
    }
}
