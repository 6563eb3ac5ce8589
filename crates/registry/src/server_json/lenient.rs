//! Lenient deserialization: publishers write members in different ways.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize as _, Deserializer};
use serde_json::Value;

/// Deserializes a list. Unreadable entries are skipped, so that they do not hide their siblings.
pub(super) fn list<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    // Another type counts as absent: one bad member must not hide the whole server.
    let Value::Array(values) = Value::deserialize(deserializer)? else { return Ok(Vec::new()) };
    Ok(values.into_iter().filter_map(|value| serde_json::from_value(value).ok()).collect())
}

pub(super) fn map<'de, D, T>(deserializer: D) -> Result<BTreeMap<String, T>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    let Value::Object(members) = Value::deserialize(deserializer)? else {
        return Ok(BTreeMap::new());
    };
    let read = |(name, value)| serde_json::from_value(value).ok().map(|value| (name, value));
    Ok(members.into_iter().filter_map(read).collect())
}

/// Deserializes a text; numbers and Booleans are converted to text.
pub(super) fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Ok(as_text(&Value::deserialize(deserializer)?))
}

pub(super) fn texts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let Value::Array(values) = Value::deserialize(deserializer)? else { return Ok(Vec::new()) };
    Ok(values.iter().filter_map(as_text).collect())
}

/// Deserializes a flag; an unreadable value counts as not set.
pub(super) fn flag<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    let value = Value::deserialize(deserializer)?;
    Ok(value.as_bool().unwrap_or_else(|| value.as_str() == Some("true")))
}

/// Deserializes a flag that protects a value: an unreadable value counts as set.
pub(super) fn careful_flag<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    let value = Value::deserialize(deserializer)?;
    Ok(!matches!(value, Value::Null | Value::Bool(false)) && value.as_str() != Some("false"))
}

pub(super) fn maybe<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    Ok(serde_json::from_value(Value::deserialize(deserializer)?).ok())
}

pub(super) fn as_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}
