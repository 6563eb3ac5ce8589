//! Effects of the state machine, which the driver performs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use switchboard_core::OutcomeKind;

use crate::turn::input::Failure;

/// An effect to perform. Its result comes back as an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TurnEffect {
    /// Send the messages of the state to the model.
    AskModel,
    /// Run the call in this slot.
    Run {
        /// The index of the call.
        slot: usize,
    },
    /// Report a call that does not run.
    LeaveOut {
        /// The index of the call.
        slot: usize,
        outcome: OutcomeKind,
        /// The report to the model.
        text: String,
    },
    /// Ask the user whether to continue.
    AskPerson(Limit),
    /// Summarize the first messages.
    Compact {
        /// The number of messages.
        upto: usize,
    },
    /// Cancel everything that is running.
    StopAll,
    /// Report the end of the turn.
    End(TurnEnd),
}

/// A limit that the conversation has reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "limit", content = "count", rename_all = "snake_case")]
#[schemars(rename = "SessionLimit")]
pub enum Limit {
    /// The model was asked so often.
    Steps(usize),
    /// So many mistakes in a row.
    Mistakes(u32),
    /// So many calls in a row that nobody was asked about.
    Unasked(usize),
    /// The same call so many times.
    Repeats(u32),
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "end", rename_all = "snake_case")]
pub enum TurnEnd {
    /// The model has said what it had to say.
    Done,
    /// The answer was longer than the model may write.
    Length,
    /// The vendor does not want to answer.
    Refused,
    /// The model said nothing at all.
    Silent,
    /// The person gave it up.
    Cancelled,
    /// A limit was reached, and the person did not want to go on.
    Stopped(Limit),
    /// The model could not be asked.
    Failed(Failure),
    /// The conversation can no longer be kept, so it does not go on.
    NotKept {
        /// Why not.
        message: String,
        /// What to do about it.
        hint: Option<String>,
    },
}
