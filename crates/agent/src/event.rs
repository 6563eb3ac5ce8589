//! Events of a conversation, for faces.

use schemars::JsonSchema;
use serde::Serialize;
use switchboard_core::OutcomeKind;
use switchboard_prompting::{StopReason, TokenUsage};

use crate::turn::{Consent, Limit, TurnEnd};

/// An event of a conversation. With `--json`, each one is a line of the output.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
#[schemars(rename = "SessionEvent")]
pub enum Event {
    /// The conversation was opened under this id.
    Session {
        /// The id of the conversation.
        session: String,
        /// The profile of the model.
        model: String,
        /// Number of steps already stored.
        steps: u64,
    },
    /// A request is sent to the model.
    Asking {
        /// Estimated tokens of the request.
        tokens: usize,
    },
    /// The next part of the answer.
    Text {
        /// The text of this part.
        text: String,
    },
    /// The next part of the model's reasoning.
    Thinking {
        /// The text of this part.
        text: String,
    },
    /// The model starts to write a call.
    Writing {
        /// The server and the tool, as far as they are known.
        target: String,
    },
    /// The answer starts over after a failure; discard the text received so far.
    Again {
        /// The reason for the restart.
        why: String,
    },
    /// The request is retried after a back-off, for example because of a rate limit.
    Waiting {
        /// The back-off in seconds.
        seconds: f64,
        /// The reason for the back-off.
        why: String,
    },
    /// The answer is complete.
    Answered {
        /// The reason why the answer ended.
        stop: StopReason,
        /// The tokens used by this answer.
        usage: TokenUsage,
        /// The step under which the answer is stored.
        step: u64,
    },
    /// A call starts: it is checked, approved if necessary, and run.
    Call {
        /// The index of the call in the answer, from 0.
        slot: usize,
        /// The id of the server; empty for the conversation's own tools.
        server: String,
        /// The tool name or the resource URI.
        target: String,
        /// The arguments as the text of a JSON object.
        arguments: String,
    },
    /// A call reports its progress.
    Progress {
        /// The index of the call in the answer.
        slot: usize,
        /// The progress so far, in the server's unit.
        progress: f64,
        /// The value at completion, if the server knows it.
        total: Option<f64>,
        /// The server's description of the progress.
        message: Option<String>,
    },
    /// A server sent a log message.
    Notice {
        /// The id of the server.
        server: String,
        /// The MCP log level, such as `warning`.
        level: String,
        /// The text of the message.
        text: String,
    },
    /// A call has ended.
    Ended {
        /// The index of the call in the answer.
        slot: usize,
        /// The outcome of the call.
        outcome: OutcomeKind,
        /// The report to the model.
        text: String,
        /// Number of images in the result.
        images: usize,
        /// How the call was approved.
        consent: Consent,
        /// The id of the call in the record.
        call: Option<String>,
        /// The duration of the call.
        milliseconds: u64,
    },
    /// A call is skipped and does not run.
    LeftOut {
        /// The index of the call in the answer.
        slot: usize,
        /// The outcome that the call counts as.
        outcome: OutcomeKind,
        /// The report to the model.
        text: String,
    },
    /// The model requested an invalid call, such as an unknown tool.
    Mistake {
        /// The index of the call in the answer.
        slot: usize,
        /// The report to the model.
        text: String,
    },
    /// The conversation has reached a limit and waits for a decision to continue or stop.
    Limit(Limit),
    /// The oldest messages were replaced with a summary, because the context window is nearly full.
    Compacted {
        /// Number of messages replaced.
        messages: usize,
        /// The summary that replaces them.
        summary: String,
    },
    /// A problem that does not end the conversation.
    Warning {
        /// The description of the problem.
        text: String,
        /// The remedy, if there is one.
        hint: Option<String>,
    },
    /// The turn has ended.
    TurnEnded {
        /// The reason why the turn ended.
        #[serde(flatten)]
        end: TurnEnd,
        /// The tokens used by all answers so far.
        usage: TokenUsage,
        /// The last step that is stored.
        step: u64,
        /// Number of user messages received so far; later ones start another turn.
        said: u64,
    },
}
