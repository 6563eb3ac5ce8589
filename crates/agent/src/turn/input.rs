//! Inputs of the state machine. The stored sequence of inputs is the conversation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use switchboard_core::OutcomeKind;
use switchboard_prompting::{Image, ModelErrorKind, StopReason, TokenUsage, VendorMessage};

use crate::turn::state::TurnLimits;

/// An input of the state machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum TurnInput {
    /// The conversation starts, or continues under other limits.
    Began {
        limits: TurnLimits,
    },
    /// A user message.
    Said {
        text: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<Image>,
    },
    Answered(Box<TurnAnswer>),
    /// The request to the model failed.
    NoAnswer(Failure),
    /// A call of the last answer has ended.
    Ended {
        /// The index of the call.
        slot: usize,
        end: Box<CallEnd>,
    },
    /// The user decided whether to continue after a limit.
    Decided {
        decision: LimitDecision,
    },
    /// The user cancelled the running step.
    Cancelled(Interruption),
    /// The beginning of the conversation was replaced with a summary.
    Compacted {
        /// The number of messages replaced.
        upto: usize,
        summary: String,
        /// The handle under which the model can read the messages, if they were stored.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        handle: Option<String>,
    },
    /// The user retries the failed request.
    Retried,
    /// All steps after an earlier one are undone.
    Undone {
        /// The last step that remains.
        to: u64,
    },
}

/// A complete answer of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TurnAnswer {
    /// The text, including calls if the model calls tools in its text.
    pub text: String,
    /// The requested calls, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asked: Vec<TurnCall>,
    /// Whether the calls are native, through the vendor's API.
    pub native: bool,
    /// The message in the vendor's own format.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<VendorMessage>,
    pub stop: StopReason,
    pub usage: TokenUsage,
    /// Estimated tokens of the system prompt and the tool definitions.
    pub prompt_tokens: usize,
    /// The profile of the model.
    pub model: String,
}

/// A call requested by a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnCall {
    /// The id of the call, which its result refers to.
    pub id: String,
    /// The tool name that the model used.
    pub name: String,
    /// The arguments as the model wrote them: the text of a JSON object.
    pub arguments: String,
    pub what: TurnCallKind,
}

/// The resolved meaning of a requested call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TurnCallKind {
    /// A call to a server.
    Call {
        server: String,
        wanted: CallKind,
        /// The tool name or the resource URI.
        target: String,
        /// The arguments for the server: the text of a JSON object.
        arguments: String,
    },
    /// One of the conversation's own tools.
    Own,
    /// A call that cannot be made.
    Mistake {
        /// The problem and the remedy, for the model.
        message: String,
    },
}

/// The kind of a call to a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallKind {
    Tool,
    Resource,
}

/// The end of a requested call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallEnd {
    pub outcome: OutcomeKind,
    /// The report to the model.
    pub text: String,
    /// The origin of the text, if it is a server that the user does not trust.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
    pub consent: Consent,
    /// Whether the call was a mistake of the model.
    #[serde(default)]
    pub mistake: bool,
    /// The id of the call in the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    #[serde(default)]
    pub milliseconds: u64,
}

/// Who agreed to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Consent {
    /// A rule allowed it, and nobody was asked.
    Rule,
    /// A person was asked.
    Person,
    /// There was nothing to agree to.
    NotNeeded,
}

/// The user's decision after a limit was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitDecision {
    GoOn,
    Stop,
}

/// Why the model could not be asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ModelFailure")]
pub struct Failure {
    /// The kind of trouble.
    pub trouble: ModelErrorKind,
    /// What happened.
    pub message: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// A cancelled step.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interruption {
    /// The partial answer of the model.
    pub heard: String,
}

impl CallEnd {
    /// Creates the end of a call that did not run, with the reason for the model.
    #[must_use]
    pub fn not_run(outcome: OutcomeKind, text: impl Into<String>) -> Self {
        Self {
            outcome,
            text: text.into(),
            origin: None,
            images: Vec::new(),
            consent: Consent::NotNeeded,
            mistake: false,
            call: None,
            milliseconds: 0,
        }
    }

    /// Returns whether the call is reported to the model as failed.
    #[must_use]
    pub fn is_failure(&self) -> bool {
        self.outcome != OutcomeKind::Ok
    }
}
