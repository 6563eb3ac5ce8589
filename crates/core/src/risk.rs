//! The risk of a call: a score with its reasons.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much harm a call could do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Risk {
    /// From 0 to 100.
    pub score: u8,
    /// Why, in short sentences, the weightiest first.
    pub reasons: Vec<String>,
}
