//! What a driver has to bring about.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use switchboard_core::OutcomeKind;

use crate::turn::input::Failure;

/// Something to bring about. Its end comes back as an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TurnEffect {
    /// Ask the model, with the messages of the state.
    AskModel,
    /// Do what the model asked for in this slot.
    Run {
        /// Which one, from 0.
        slot: usize,
    },
    /// Tell that a call does not run.
    LeaveOut {
        /// Which one, from 0.
        slot: usize,
        outcome: OutcomeKind,
        /// What the model is told.
        text: String,
    },
    /// Ask the person whether to go on.
    AskPerson(Limit),
    /// Find words that stand for the first messages.
    Compact {
        /// How many of them.
        upto: usize,
    },
    /// Give up what runs.
    StopAll,
    /// Tell that the turn has ended.
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
