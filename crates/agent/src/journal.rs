//! Inputs to kept steps and back.

use bytes::Bytes;
use serde_json::Value;
use switchboard_store::Step;

use crate::turn::{Entry, Input};

/// A kept step that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("step {number} of the conversation cannot be read: {cause}")]
pub struct Unreadable {
    /// Its number.
    pub number: u64,
    cause: serde_json::Error,
}

/// An input as it is kept: its kind in one word, and everything as JSON.
pub(crate) fn kept(input: &Input) -> (String, Bytes) {
    // An input has only text keys and finite numbers, so this cannot fail.
    let value = serde_json::to_value(input).unwrap_or(Value::Null);
    let kind = value.get("what").and_then(Value::as_str).unwrap_or_default().to_owned();
    (kind, Bytes::from(value.to_string()))
}

/// The inputs that were kept.
pub(crate) fn entries(steps: &[Step]) -> Result<Vec<Entry>, Unreadable> {
    let entry = |step: &Step| {
        let input = serde_json::from_slice(&step.body)
            .map_err(|cause| Unreadable { number: step.number, cause })?;
        Ok(Entry { number: step.number, input })
    };
    steps.iter().map(entry).collect()
}
