//! Events of a conversation, for faces.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use switchboard_core::OutcomeKind;
use switchboard_prompting::{StopReason, TokenUsage};

use crate::turn::{Consent, Limit, TurnEnd};

/// One thing that happened. Together these are the stream of `--json`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
#[schemars(rename = "SessionEvent")]
pub enum Event {
    /// The conversation can be found under this name.
    Session {
        /// Its name.
        session: String,
        /// The profile of the model.
        model: String,
        /// How many steps there are already.
        steps: u64,
    },
    /// The model is asked.
    Asking {
        /// About how many tokens the question has.
        tokens: usize,
    },
    /// Words of the answer.
    Text {
        /// The words.
        text: String,
    },
    /// What the model thinks before it speaks.
    Thinking {
        /// The words.
        text: String,
    },
    /// The model begins to write a call.
    Writing {
        /// What it is about, as far as that is known.
        target: String,
    },
    /// The vendor failed in the middle and is asked again: the words so far do not count.
    Again {
        /// What went wrong.
        why: String,
    },
    /// The vendor asks for patience.
    Waiting {
        /// How long.
        seconds: f64,
        /// What went wrong.
        why: String,
    },
    /// The answer is whole.
    Answered {
        /// Why it ended.
        stop: StopReason,
        /// What it cost.
        usage: TokenUsage,
        /// The step under which it is kept.
        step: u64,
    },
    /// A call begins: it is checked, perhaps asked about, and run.
    Call {
        /// Which one of the answer, from 0.
        slot: usize,
        /// The server; empty for the conversation's own tools.
        server: String,
        /// The tool or the resource's address.
        target: String,
        /// The arguments: the text of a JSON object.
        arguments: String,
    },
    /// A call reports how far it is.
    Progress {
        /// Which one.
        slot: usize,
        /// How far.
        progress: f64,
        /// Of how much, if that is known.
        total: Option<f64>,
        /// In words.
        message: Option<String>,
    },
    /// A server said something while its call ran.
    Notice {
        /// The server.
        server: String,
        /// How serious it is.
        level: String,
        /// What it said.
        text: String,
    },
    /// A call has ended.
    Ended {
        /// Which one.
        slot: usize,
        /// How, in one word.
        outcome: OutcomeKind,
        /// What the model is told.
        text: String,
        /// How many pictures came with it.
        images: usize,
        /// Who agreed to it.
        consent: Consent,
        /// The number of the call in the record.
        call: Option<String>,
        /// How long it took.
        milliseconds: u64,
    },
    /// A call does not run.
    LeftOut {
        /// Which one.
        slot: usize,
        /// How that counts, in one word.
        outcome: OutcomeKind,
        /// What the model is told.
        text: String,
    },
    /// The model asked for something that cannot be.
    Mistake {
        /// Which one.
        slot: usize,
        /// What it is told.
        text: String,
    },
    /// The conversation has reached a limit; the person is asked whether to go on.
    Limit(Limit),
    /// The beginning of the conversation was cut to make room.
    Compacted {
        /// How many messages were cut.
        messages: usize,
        /// What stands for them.
        summary: String,
    },
    /// Something the person should know, such as that a step could not be kept.
    Warning {
        /// What it is.
        text: String,
        /// What to do about it.
        hint: Option<String>,
    },
    /// The turn has ended.
    TurnEnded {
        /// How.
        #[serde(flatten)]
        end: TurnEnd,
        /// What all answers cost together.
        usage: TokenUsage,
        /// The last step that is kept.
        step: u64,
        /// How much the person has said by now: words said later begin another turn.
        said: u64,
    },
}

impl Event {
    pub(crate) fn backing_off(delay: Duration, why: String) -> Self {
        Self::Waiting { seconds: delay.as_secs_f64(), why }
    }
}
