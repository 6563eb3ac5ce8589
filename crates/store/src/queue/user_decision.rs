//! What a person said to something that waited, whichever face they said it at.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use switchboard_core::Answer;

/// What a person said: to the question about a call, or to what a server asks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "said", content = "with", rename_all = "snake_case")]
pub enum UserDecision {
    /// Run the call, this once.
    Run,
    /// Run it with these arguments instead: the text of a JSON object.
    RunWith(String),
    /// Run it, and do not ask for this tool again as long as the caller's session goes on.
    Session,
    /// Run it, and do not ask for this tool again.
    Always,
    Skip,
    /// Do not run it; do this instead.
    Reject(String),
    /// Yes to the server; with what was filled in, if there was a form.
    Accept(Option<Map<String, Value>>),
    /// No to the server.
    Decline,
    /// Neither yes nor no.
    Cancel,
}

impl UserDecision {
    /// It in one word.
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

    /// It as the answer to the question about a call, if it is one.
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

    /// It as the reply to a server, if it is one.
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

/// The reply of a person to a server's question.
#[derive(Clone, Debug, PartialEq)]
pub enum AskReply {
    /// Yes, with the content of the form, if there was one.
    Accept(Option<Map<String, Value>>),
    Decline,
    /// Neither yes nor no.
    Cancel,
}
