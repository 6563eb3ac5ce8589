//! Encodes inputs as stored steps, and decodes them.

use bytes::Bytes;
use serde_json::Value;
use switchboard_store::SessionStep;

use crate::turn::{TurnEntry, TurnInput};

/// The error for a stored step that is not a valid input.
#[derive(Debug, thiserror::Error)]
#[error("step {number} of the conversation cannot be read: {cause}")]
pub struct UnreadableStep {
    pub number: u64,
    cause: serde_json::Error,
}

/// Encodes an input as the word for its kind and its JSON.
pub(crate) fn encode(input: &TurnInput) -> (String, Bytes) {
    // An input has only text keys and finite numbers, so this cannot fail.
    let value = serde_json::to_value(input).unwrap_or(Value::Null);
    let kind = value.get("what").and_then(Value::as_str).unwrap_or_default().to_owned();
    (kind, Bytes::from(value.to_string()))
}

pub(crate) fn decode(steps: &[SessionStep]) -> Result<Vec<TurnEntry>, UnreadableStep> {
    let entry = |step: &SessionStep| {
        let input = serde_json::from_slice(&step.body)
            .map_err(|cause| UnreadableStep { number: step.number, cause })?;
        Ok(TurnEntry { number: step.number, input })
    };
    steps.iter().map(entry).collect()
}
