//! The outcome of a call: kind, reason, message, hint and result; and the durability of its record.

use std::fmt;
use std::str::FromStr;

use bytes::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use switchboard_wire::RpcError;

/// The outcome of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    pub kind: OutcomeKind,
    /// A machine-readable reason, such as `timeout` or `host_crash`.
    pub reason: Option<String>,
    /// A sentence for a person or a model.
    pub message: Option<String>,
    pub hint: Option<String>,
    /// The result as JSON text, byte for byte as the server sent it.
    pub result: Option<Bytes>,
    /// The server's error, for faces that forward it; not recorded.
    // Boxed: errors are rare, and every step of the pipeline moves outcomes by value.
    pub error: Option<Box<RpcError>>,
}

/// The ten ways in which a call can end.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeKind {
    /// The server answered with a result.
    Ok,
    /// The tool ran and reported an error.
    ToolError,
    /// The policy, a hook or the organisation denied the call.
    Denied,
    /// A person rejected the call.
    Rejected,
    /// The call was never sent to the server.
    NotSent,
    /// The server provably did not run the call.
    Refused,
    /// The server answered with an error.
    Failed,
    /// The call was sent, but no valid answer arrived; it may have run.
    Unknown,
    /// The caller cancelled the call.
    Cancelled,
    /// The result does not match the output schema or the protocol.
    InvalidOutput,
}

/// The text is not the name of an outcome.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown outcome `{0}`")]
pub struct UnknownOutcome(String);

impl OutcomeKind {
    /// All outcomes, in the order of the documentation.
    pub const ALL: [Self; 10] = [
        Self::Ok,
        Self::ToolError,
        Self::Denied,
        Self::Rejected,
        Self::NotSent,
        Self::Refused,
        Self::Failed,
        Self::Unknown,
        Self::Cancelled,
        Self::InvalidOutput,
    ];

    /// Returns the word used in records, events and JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::ToolError => "tool_error",
            Self::Denied => "denied",
            Self::Rejected => "rejected",
            Self::NotSent => "not_sent",
            Self::Refused => "refused",
            Self::Failed => "failed",
            Self::Unknown => "unknown",
            Self::Cancelled => "cancelled",
            Self::InvalidOutput => "invalid_output",
        }
    }
}

impl fmt::Display for OutcomeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // `pad` honours the width in `{:<15}`, so tables can align it.
        f.pad(self.as_str())
    }
}

impl FromStr for OutcomeKind {
    type Err = UnknownOutcome;

    fn from_str(text: &str) -> Result<Self, UnknownOutcome> {
        let mut kinds = Self::ALL.into_iter();
        kinds.find(|kind| kind.as_str() == text).ok_or_else(|| UnknownOutcome(text.to_owned()))
    }
}

impl Outcome {
    /// The reason of a call that continues as a detached task.
    pub const TASK_RUNNING: &'static str = "task_running";
    /// The reason of a call whose task cannot be reached.
    pub const TASK_AWAY: &'static str = "task_away";
    /// The reason of a call that was denied because only read-only calls may run.
    pub const READ_ONLY: &'static str = "read_only";

    /// Returns whether the call was denied because only read-only calls may run.
    pub fn is_read_only(&self) -> bool {
        self.kind == OutcomeKind::Denied && self.reason.as_deref() == Some(Self::READ_ONLY)
    }

    /// Returns whether the call has not ended: its task can still be awaited.
    pub fn is_running(&self) -> bool {
        // A running task has no kind of its own: until it ends, its outcome is unknown.
        let reason = self.reason.as_deref();
        self.kind == OutcomeKind::Unknown
            && matches!(reason, Some(Self::TASK_RUNNING | Self::TASK_AWAY))
    }

    /// Creates an outcome with only a kind; the `with_` methods add the rest.
    pub const fn new(kind: OutcomeKind) -> Self {
        Self { kind, reason: None, message: None, hint: None, result: None, error: None }
    }

    /// The server answered with this result.
    pub fn ok(result: Bytes) -> Self {
        Self { result: Some(result), ..Self::new(OutcomeKind::Ok) }
    }

    /// The tool ran, and this result reports its error.
    pub fn tool_error(result: Bytes) -> Self {
        Self { result: Some(result), ..Self::new(OutcomeKind::ToolError) }
    }

    /// Policy, a hook or the organisation denied the call.
    pub fn denied(reason: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(OutcomeKind::Denied).with_reason(reason).with_message(message)
    }

    /// A person rejected the call, optionally with feedback.
    pub fn rejected(feedback: Option<String>) -> Self {
        Self { message: feedback, ..Self::new(OutcomeKind::Rejected).with_reason("person") }
    }

    /// The call was never sent to the server.
    pub fn not_sent(reason: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(OutcomeKind::NotSent).with_reason(reason).with_message(message)
    }

    /// The server provably did not run the call.
    pub fn refused(reason: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(OutcomeKind::Refused).with_reason(reason).with_message(message)
    }

    /// The server answered with an error.
    pub fn failed(reason: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(OutcomeKind::Failed).with_reason(reason).with_message(message)
    }

    /// The call was sent, but no valid answer arrived; it may have run.
    pub fn unknown(reason: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(OutcomeKind::Unknown).with_reason(reason).with_message(message)
    }

    /// The caller cancelled the call.
    pub fn cancelled(reason: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(OutcomeKind::Cancelled).with_reason(reason).with_message(message)
    }

    /// The result does not match the output schema or the protocol; it is kept as evidence.
    pub fn invalid_output(message: impl Into<String>, result: Bytes) -> Self {
        Self { result: Some(result), ..Self::new(OutcomeKind::InvalidOutput).with_message(message) }
    }

    /// Sets the machine-readable reason.
    #[must_use]
    pub fn with_reason(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }

    /// Sets the message for a person or a model.
    #[must_use]
    pub fn with_message(mut self, message: impl Into<String>) -> Self {
        self.message = Some(message.into());
        self
    }

    /// Sets the suggested next step.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Sets the error that the server answered with.
    #[must_use]
    pub fn with_error(mut self, error: RpcError) -> Self {
        self.error = Some(Box::new(error));
        self
    }
}

/// The failures that a committed record survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Durability {
    /// A crash of this process.
    #[default]
    Process,
    /// A power loss: every batch of calls is synced to disk.
    Power,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_reads_back_as_its_outcome_also_in_json() {
        for kind in OutcomeKind::ALL {
            assert_eq!(kind.as_str().parse(), Ok(kind));
            let json = serde_json::to_string(&kind).unwrap();
            assert_eq!(json, format!("\"{kind}\""));
            assert_eq!(serde_json::from_str::<OutcomeKind>(&json).unwrap(), kind);
        }
        assert_eq!("OK".parse::<OutcomeKind>(), Err(UnknownOutcome("OK".to_owned())));
    }

    #[test]
    fn a_rejection_carries_the_feedback_as_its_message() {
        let outcome = Outcome::rejected(Some("use the copy".to_owned()));
        assert_eq!(
            outcome,
            Outcome {
                kind: OutcomeKind::Rejected,
                reason: Some("person".to_owned()),
                message: Some("use the copy".to_owned()),
                hint: None,
                result: None,
                error: None
            }
        );
    }
}
