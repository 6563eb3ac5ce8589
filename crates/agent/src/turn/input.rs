//! What can happen to a conversation; kept in order, this is the conversation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use switchboard_core::OutcomeKind;
use switchboard_prompting::{Image, ModelErrorKind, StopReason, TokenUsage, VendorMessage};

use crate::turn::state::TurnLimits;

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum TurnInput {
    /// The conversation begins, or goes on under other limits.
    Began {
        limits: TurnLimits,
    },
    /// The person said something.
    Said {
        text: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<Image>,
    },
    Answered(Box<TurnAnswer>),
    /// The model could not be asked.
    NoAnswer(Failure),
    /// A call of the last answer has ended.
    Ended {
        /// Which of them, from 0.
        slot: usize,
        end: Box<CallEnd>,
    },
    /// The person answered the question whether to go on.
    Decided {
        decision: LimitDecision,
    },
    /// The person gave the step up.
    Cancelled(Interruption),
    /// The beginning of the conversation was cut to make room.
    Compacted {
        /// How many messages were cut.
        upto: usize,
        /// What stands for them.
        summary: String,
        /// Under which name the model can read them, if it can.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        handle: Option<String>,
    },
    /// The model is to be asked once more after it failed.
    Retried,
    /// Everything after an earlier step does not count any more.
    Undone {
        /// The last step that counts.
        to: u64,
    },
}

/// A whole answer of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TurnAnswer {
    /// The words, with the calls in them if it calls in text.
    pub text: String,
    /// What it asks for, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asked: Vec<TurnCall>,
    /// Whether it asks through the vendor's API.
    pub native: bool,
    /// The message in the vendor's own form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<VendorMessage>,
    pub stop: StopReason,
    pub usage: TokenUsage,
    /// About how many tokens the system prompt and the definitions have.
    pub prompt_tokens: usize,
    /// Which model it was.
    pub model: String,
}

/// One thing that a model asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnCall {
    /// The name of the call, which its result carries.
    pub id: String,
    /// The name under which it was asked for.
    pub name: String,
    /// The arguments as they were written: the text of a JSON object.
    pub arguments: String,
    pub what: TurnCallKind,
}

/// What a model means by something it asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TurnCallKind {
    /// A call on a server.
    Call {
        server: String,
        /// Whether a tool is run or a resource read.
        wanted: CallKind,
        /// The tool, or the resource's address.
        target: String,
        /// The arguments as the server wants them: the text of a JSON object.
        arguments: String,
    },
    /// One of the conversation's own tools.
    Own,
    /// Nothing that could be called.
    Mistake {
        /// What is wrong and what to do, for the model.
        message: String,
    },
}

/// Whether a tool is run or a resource read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallKind {
    /// A tool is run.
    Tool,
    /// A resource is read.
    Resource,
}

/// How something that was asked for has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallEnd {
    pub outcome: OutcomeKind,
    /// In words for the model.
    pub text: String,
    /// Whose words these are, where that is somebody whom the person does not vouch for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// Pictures of the result.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
    /// Who agreed to it.
    pub consent: Consent,
    /// Whether the model asked for something that cannot be.
    #[serde(default)]
    pub mistake: bool,
    /// The number of the call in the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// How long it took.
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

/// What a person wants when the conversation has reached a limit.
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

/// A step that was given up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interruption {
    /// What the model had said of its answer by then.
    pub heard: String,
}

impl CallEnd {
    /// Something that did not run, with the reason for the model.
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

    /// Whether the model is told that it went wrong.
    #[must_use]
    pub fn is_failure(&self) -> bool {
        self.outcome != OutcomeKind::Ok
    }
}
