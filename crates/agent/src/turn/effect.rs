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
    Run {
        slot: usize,
    },
    /// Report a call that does not run.
    LeaveOut {
        slot: usize,
        outcome: OutcomeKind,
        text: String,
    },
    /// Ask the user whether to continue.
    AskPerson(Limit),
    /// Summarize the first `upto` messages.
    Compact {
        upto: usize,
    },
    /// Cancel everything that is running.
    StopAll,
    End(TurnEnd),
}

/// A limit that the conversation has reached, with its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "limit", content = "count", rename_all = "snake_case")]
#[schemars(rename = "SessionLimit")]
pub enum Limit {
    /// Maximum number of model requests per turn.
    Steps(usize),
    /// Maximum number of consecutive mistakes of the model.
    Mistakes(u32),
    /// Maximum number of consecutive calls without approval by a person.
    Unasked(usize),
    /// Maximum number of consecutive identical calls.
    Repeats(u32),
}

/// The reason why a turn ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "end", rename_all = "snake_case")]
pub enum TurnEnd {
    /// The model finished its answer.
    Done,
    /// The answer reached the model's output limit.
    Length,
    /// The vendor refused to answer.
    Refused,
    /// The answer was empty.
    Silent,
    /// The user cancelled the turn.
    Cancelled,
    /// A limit was reached, and the user decided to stop.
    Stopped(Limit),
    /// The request to the model failed.
    Failed(Failure),
    /// The conversation ended because it cannot be stored.
    NotKept {
        /// The description of the problem.
        message: String,
        /// The remedy, if there is one.
        hint: Option<String>,
    },
}
