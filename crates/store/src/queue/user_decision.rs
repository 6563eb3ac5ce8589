//! Decisions of people about queue entries, independent of the face.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use switchboard_core::Answer;

/// A person's decision about a call, or reply to a server's question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "said", content = "with", rename_all = "snake_case")]
pub enum UserDecision {
    Run,
    /// Run the call with other arguments, the text of a JSON object.
    RunWith(String),
    /// Run the call, and do not ask for this tool again during the caller's session.
    Session,
    /// Run the call, and do not ask for this tool again.
    Always,
    Skip,
    /// Do not run the call. The text says what to do instead.
    Reject(String),
    /// Accept the server's request, with the content of its form if there was one.
    Accept(Option<Map<String, Value>>),
    Decline,
    /// Dismiss the server's request without a decision.
    Cancel,
}

impl UserDecision {
    /// Returns the decision as one word.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Run | Self::RunWith(_) => "run",
            Self::Session => "session",
            Self::Always => "always",
            Self::Skip => "skip",
            Self::Reject(_) => "reject",
            Self::Accept(_) => "accept",
            Self::Decline => "decline",
            Self::Cancel => "cancel",
        }
    }

    /// Converts the decision to the answer of a review, if it is one.
    #[must_use]
    pub fn into_answer(self) -> Option<Answer> {
        match self {
            Self::Run => Some(Answer::Run),
            Self::RunWith(arguments) => Some(Answer::RunWith(arguments)),
            Self::Session => Some(Answer::Session),
            Self::Always => Some(Answer::Always),
            Self::Skip => Some(Answer::Skip),
            Self::Reject(instead) => Some(Answer::Reject(instead)),
            Self::Accept(_) | Self::Decline | Self::Cancel => None,
        }
    }

    /// Converts the decision to the reply to a server, if it is one.
    #[must_use]
    pub fn into_reply(self) -> Option<AskReply> {
        match self {
            Self::Accept(content) => Some(AskReply::Accept(content)),
            Self::Decline => Some(AskReply::Decline),
            Self::Cancel => Some(AskReply::Cancel),
            Self::Run
            | Self::RunWith(_)
            | Self::Session
            | Self::Always
            | Self::Skip
            | Self::Reject(_) => None,
        }
    }
}

impl From<&Answer> for UserDecision {
    fn from(answer: &Answer) -> Self {
        match answer.clone() {
            Answer::Run => Self::Run,
            Answer::RunWith(arguments) => Self::RunWith(arguments),
            Answer::Session => Self::Session,
            Answer::Always => Self::Always,
            Answer::Skip => Self::Skip,
            Answer::Reject(instead) => Self::Reject(instead),
        }
    }
}

impl From<&AskReply> for UserDecision {
    fn from(reply: &AskReply) -> Self {
        match reply.clone() {
            AskReply::Accept(content) => Self::Accept(content),
            AskReply::Decline => Self::Decline,
            AskReply::Cancel => Self::Cancel,
        }
    }
}

/// A person's reply to a server's question.
#[derive(Clone, Debug, PartialEq)]
pub enum AskReply {
    /// Accepts, with the content of the form if there was one.
    Accept(Option<Map<String, Value>>),
    Decline,
    /// Dismisses the question without a decision.
    Cancel,
}
