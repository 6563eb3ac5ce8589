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
    /// The user sent a message.
    Said {
        text: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<Image>,
    },
    Answered(Box<TurnAnswer>),
    NoAnswer(Failure),
    /// A call of the last answer has ended.
    Ended {
        slot: usize,
        end: Box<CallEnd>,
    },
    /// The user decided whether to continue after a limit.
    Decided {
        decision: LimitDecision,
    },
    Cancelled(Interruption),
    /// The beginning of the conversation was replaced with a summary.
    Compacted {
        /// Number of messages replaced.
        upto: usize,
        summary: String,
        /// The handle under which the model can read the messages, if they were stored.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        handle: Option<String>,
    },
    Retried,
    /// All steps after `to` are undone.
    Undone {
        to: u64,
    },
}

/// A complete answer of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TurnAnswer {
    /// The text, including calls if the model calls tools in its text.
    pub text: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asked: Vec<TurnCall>,
    /// Whether the calls are native, through the vendor's API.
    pub native: bool,
    /// The message in the vendor's own format, with signatures that only this vendor can check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<VendorMessage>,
    pub stop: StopReason,
    pub usage: TokenUsage,
    /// Estimated tokens of the system prompt and the tool definitions.
    pub prompt_tokens: usize,
    pub model: String,
}

/// A call requested by a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnCall {
    /// The id by which the result refers to the call.
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
    Call {
        server: String,
        wanted: CallKind,
        /// The tool name or the resource URI.
        target: String,
        /// The arguments for the server: the text of a JSON object.
        arguments: String,
    },
    /// A call to one of the conversation's own tools.
    Own,
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
    /// The server and target that the text comes from, if the server is not trusted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
    pub consent: Consent,
    /// Whether the call counts towards the limit on mistakes of the model.
    #[serde(default)]
    pub mistake: bool,
    /// The id of the call in the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    #[serde(default)]
    pub milliseconds: u64,
}

/// How a call was approved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Consent {
    /// A rule allowed the call without approval by a person.
    Rule,
    /// A person was asked for approval.
    Person,
    /// The call needed no approval, or was denied without asking.
    NotNeeded,
}

/// The user's decision after a limit was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitDecision {
    GoOn,
    Stop,
}

/// A failed request to the model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ModelFailure")]
pub struct Failure {
    /// The kind of failure.
    pub trouble: ModelErrorKind,
    /// The description of the failure.
    pub message: String,
    /// The remedy, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// The cancellation of a running step by the user.
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
