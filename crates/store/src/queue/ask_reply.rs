//! The reply of a person to a server's question.

use serde_json::{Map, Value};

/// The reply of a person to a server's question.
#[derive(Clone, Debug, PartialEq)]
pub enum AskReply {
    /// Yes, with the content of the form, if there was one.
    Accept(Option<Map<String, Value>>),
    /// No.
    Decline,
    /// Neither yes nor no.
    Cancel,
}
