//! Where a conversation stands.

use switchboard_prompting::{Image, Message, Mistakes, Repeats, Usage, estimate};

use crate::turn::effect::{Effect, Limit};
use crate::turn::input::{Asked, Ended};
use crate::turn::limits::Limits;

/// Where a conversation stands.
#[derive(Clone, Debug)]
pub struct State {
    /// How many inputs there were.
    pub number: u64,
    /// What it may do.
    pub limits: Limits,
    /// What the model is told of the conversation.
    pub messages: Vec<Message>,
    /// What it waits for.
    pub phase: Phase,
    /// What all answers cost together.
    pub usage: Usage,
    /// About how many tokens the next question to the model has.
    pub fill: usize,
    /// How often the beginning was cut.
    pub cuts: usize,
    pub(super) queued: Vec<(String, Vec<Image>)>,
    pub(super) steps: usize,
    pub(super) unasked: usize,
    pub(super) mistakes: Mistakes,
    pub(super) repeats: Repeats,
    pub(super) squeezed: bool,
}

/// What a conversation waits for.
#[derive(Clone, Debug, PartialEq)]
pub enum Phase {
    /// The person.
    Idle,
    /// The model.
    Thinking,
    /// The calls of an answer.
    Calling(Calling),
    /// The person's word on a limit.
    Asking(Limit),
    /// Words that stand for what is cut.
    Compacting {
        /// How many messages are cut.
        upto: usize,
    },
}

/// The calls of one answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Calling {
    /// The input that was the answer: calls are named after it.
    pub number: u64,
    /// Whether they came through the vendor's API.
    pub native: bool,
    /// One for each call, in order.
    pub slots: Vec<Slot>,
    /// Whether the person gave them up.
    pub cancelled: bool,
    /// Whether one of them was the same call once too often.
    pub repeated: Option<u32>,
}

/// One call of an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Slot {
    /// What was asked for.
    pub asked: Asked,
    /// How far it is.
    pub progress: Progress,
    /// What the model is told beside the result.
    pub warning: Option<String>,
}

/// How far a call is.
#[derive(Clone, Debug, PartialEq)]
pub enum Progress {
    /// It waits for those before it.
    Waiting,
    /// It was started.
    Running,
    /// It has ended.
    Done(Ended),
}

impl Default for State {
    fn default() -> Self {
        let limits = Limits::default();
        Self {
            number: 0,
            messages: Vec::new(),
            phase: Phase::Idle,
            usage: Usage::default(),
            fill: 0,
            cuts: 0,
            queued: Vec::new(),
            steps: 0,
            unasked: 0,
            mistakes: Mistakes::with_limit(limits.mistakes),
            repeats: Repeats::new(),
            squeezed: false,
            limits,
        }
    }
}

impl State {
    /// What has to be brought about for the conversation to go on from here, after its driver died.
    #[must_use]
    pub fn pending(&self) -> Vec<Effect> {
        match &self.phase {
            Phase::Idle => Vec::new(),
            Phase::Thinking => vec![Effect::AskModel],
            Phase::Asking(limit) => vec![Effect::AskPerson(*limit)],
            Phase::Compacting { upto } => vec![Effect::Compact { upto: *upto }],
            Phase::Calling(calling) => {
                let slots = calling.slots.iter().enumerate();
                slots
                    .filter(|(_, slot)| slot.progress == Progress::Running)
                    .map(|(slot, _)| Effect::Run { slot })
                    .collect()
            }
        }
    }

    /// The first call that was started and has not ended.
    #[must_use]
    pub fn running(&self) -> Option<usize> {
        match &self.phase {
            Phase::Calling(calling) => {
                calling.slots.iter().position(|slot| slot.progress == Progress::Running)
            }
            Phase::Idle | Phase::Thinking | Phase::Asking(_) | Phase::Compacting { .. } => None,
        }
    }

    /// Whether the person is expected to speak.
    #[must_use]
    pub const fn is_idle(&self) -> bool {
        matches!(self.phase, Phase::Idle)
    }

    pub(super) fn push(&mut self, message: Message) {
        self.fill += weight(&message);
        self.messages.push(message);
    }
}

/// About how many tokens a message has.
pub(super) fn weight(message: &Message) -> usize {
    // What a picture costs depends on its size; this is what a usual one does.
    const PICTURE: usize = 1_000;
    let words = match message {
        Message::User { text, images } => estimate(text) + images.len() * PICTURE,
        Message::Assistant { text, calls, .. } => {
            let calls = calls.iter().map(|call| estimate(&call.arguments) + 12);
            estimate(text) + calls.sum::<usize>()
        }
        Message::Results { results } => results
            .iter()
            .map(|result| estimate(&result.text) + result.images.len() * PICTURE + 8)
            .sum(),
    };
    words + 4
}
