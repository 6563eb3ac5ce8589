//! Reads the value and the servers of a file, and writes changed entries into its text.

use serde_json::Value;

use crate::files::{json, toml, yaml_edit, yaml_tree};
use crate::grammar::{FileFormat, OutsideChange};
use crate::note::DialectError;

#[derive(Debug)]
pub(crate) struct ParsedFile {
    pub(crate) root: Value,
    /// The servers in file order; a name may appear twice.
    pub(crate) servers: Vec<(String, Value)>,
}

/// Reads a file; an empty one has no servers.
pub(crate) fn read(
    format: FileFormat,
    text: &str,
    path: &[&str],
) -> Result<ParsedFile, DialectError> {
    // Some Windows editors begin a file with a byte order mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (root, servers) = match format {
        FileFormat::Json => json::read(text, path)?,
        FileFormat::Toml => toml::read(text, path)?,
        FileFormat::Yaml => yaml_tree::read(text, path)?,
    };
    if !root.is_null() && !root.is_object() {
        return Err(DialectError::Shape { path: "(the file)".to_owned(), wanted: "an object" });
    }
    // A wrong type on the way would otherwise look like a file without servers.
    for depth in 1..=path.len() {
        let keys = path.get(..depth).unwrap_or_default();
        if at(&root, keys).is_some_and(|value| !value.is_null() && !value.is_object()) {
            return Err(DialectError::Shape { path: keys.join("."), wanted: "an object" });
        }
    }
    Ok(ParsedFile { root, servers })
}

pub(crate) fn at<'a>(root: &'a Value, path: &[&str]) -> Option<&'a Value> {
    path.iter().try_fold(root, |value, key| value.get(*key))
}

pub(crate) fn at_mut<'a>(root: &'a mut Value, path: &[&str]) -> Option<&'a mut Value> {
    path.iter().try_fold(root, |value, key| value.get_mut(*key))
}

/// Removes empty objects and lists, which are equivalent to absent members.
pub(crate) fn without_empty(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let members = map.into_iter().map(|(key, value)| (key, without_empty(value)));
            Value::Object(members.filter(|(_, value)| !is_empty(value)).collect())
        }
        other => other,
    }
}

pub(crate) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

#[derive(Debug)]
pub(crate) struct EntryChange {
    pub(crate) key: String,
    /// The members, in the order in which new ones are written.
    pub(crate) members: Vec<(String, Value)>,
    /// The keys that are removed unless they are among the members; other keys stay.
    pub(crate) keys: Vec<&'static str>,
}

pub(crate) fn change(
    format: FileFormat,
    text: &str,
    path: &[&str],
    changes: &[EntryChange],
    beside: &[OutsideChange],
) -> Result<String, DialectError> {
    // Byte for byte the same: not even a final line break is added.
    if changes.is_empty() && beside.is_empty() {
        return Ok(text.to_owned());
    }
    let bare = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mark = text.strip_suffix(bare).unwrap_or_default();
    let changed = match format {
        FileFormat::Json => json::change(bare, path, changes, beside)?,
        FileFormat::Toml => toml::change(bare, path, changes)?,
        FileFormat::Yaml => yaml_edit::change(bare, path, changes)?,
    };
    Ok(format!("{mark}{changed}"))
}

impl EntryChange {
    /// Returns the new value of each changed member; `None` removes it.
    pub(crate) fn member_changes(&self) -> impl Iterator<Item = (&str, Option<&Value>)> {
        let has = |key: &str| self.members.iter().any(|(name, _)| name == key);
        let gone = self.keys.iter().filter(move |key| !has(key)).map(|key| (*key, None));
        let there = self.members.iter().map(|(name, value)| (name.as_str(), Some(value)));
        gone.chain(there)
    }
}
