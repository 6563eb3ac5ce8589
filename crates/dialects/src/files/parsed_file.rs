//! The text of a file -> its value, and its servers in order.

use serde_json::Value;

use crate::error::DialectError;
use crate::files::{json, toml, yaml_tree};
use crate::grammar::FileFormat;

/// A file that was read.
#[derive(Debug)]
pub(crate) struct ParsedFile {
    pub(crate) root: Value,
    /// The servers in the order of the file; a name may appear twice.
    pub(crate) servers: Vec<(String, Value)>,
}

/// Reads a file; an empty one has no servers.
pub(crate) fn read(
    format: FileFormat,
    text: &str,
    path: &[&str],
) -> Result<ParsedFile, DialectError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (root, servers) = match format {
        FileFormat::Json => json::read(text, path)?,
        FileFormat::Toml => toml::read(text, path)?,
        FileFormat::Yaml => yaml_tree::read(text, path)?,
    };
    if !root.is_null() && !root.is_object() {
        return Err(DialectError::Shape { path: "(the file)".to_owned(), wanted: "an object" });
    }
    for depth in 1..=path.len() {
        let keys = path.get(..depth).unwrap_or_default();
        if at(&root, keys).is_some_and(|value| !value.is_null() && !value.is_object()) {
            return Err(DialectError::Shape { path: keys.join("."), wanted: "an object" });
        }
    }
    Ok(ParsedFile { root, servers })
}

/// The value at the end of a path.
pub(crate) fn at<'a>(root: &'a Value, path: &[&str]) -> Option<&'a Value> {
    path.iter().try_fold(root, |value, key| value.get(*key))
}

/// The same to change it.
pub(crate) fn at_mut<'a>(root: &'a mut Value, path: &[&str]) -> Option<&'a mut Value> {
    path.iter().try_fold(root, |value, key| value.get_mut(*key))
}

/// The value without objects and lists that hold nothing, which say the same as no value.
pub(crate) fn without_empty(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let members = map.into_iter().map(|(key, value)| (key, without_empty(value)));
            Value::Object(members.filter(|(_, value)| !is_empty(value)).collect())
        }
        other => other,
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}
