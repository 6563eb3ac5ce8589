//! The state of a conversation, and its limits.

use serde::{Deserialize, Serialize};
use switchboard_config::{CallsPerMessage, ChatSettings};
use switchboard_prompting::{
    ChatMessage, Image, MistakeCounter, RepeatDetector, TokenUsage, estimate_tokens,
};

use crate::turn::effect::{Limit, TurnEffect};
use crate::turn::input::{CallEnd, TurnCall};

/// Where a conversation stands.
#[derive(Clone, Debug)]
pub struct TurnState {
    /// How many inputs there were.
    pub number: u64,
    /// What it may do.
    pub limits: TurnLimits,
    /// What the model is told of the conversation.
    pub messages: Vec<ChatMessage>,
    /// What it waits for.
    pub phase: Phase,
    /// What all answers cost together.
    pub usage: TokenUsage,
    /// About how many tokens the next question to the model has.
    pub fill: usize,
    /// How often the beginning was cut.
    pub cuts: usize,
    pub(super) queued: Vec<(String, Vec<Image>)>,
    pub(super) steps: usize,
    pub(super) unasked: usize,
    pub(super) mistakes: MistakeCounter,
    pub(super) repeats: RepeatDetector,
    pub(super) squeezed: bool,
}

/// What a conversation may do before a person has to speak, and how calls are run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnLimits {
    /// How often the model may be asked in one turn.
    pub steps: usize,
    /// How many mistakes in a row it may make.
    pub mistakes: u32,
    /// How many calls in a row may run without a question.
    pub unasked: usize,
    /// What happens with several calls in one message.
    pub calls: ParallelCalls,
    /// How many tokens the model can hold in mind.
    pub window: usize,
}

/// What happens with several calls in one message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ParallelCalls {
    /// The first runs, and the others are told to wait.
    One,
    /// All run, one after the other.
    #[default]
    Each,
    /// All run at the same time.
    Parallel,
}

impl TurnLimits {
    /// The limits that the settings give, for a model with such a window.
    #[must_use]
    pub fn from_settings(settings: &ChatSettings, window: usize) -> Self {
        Self {
            steps: settings.max_steps,
            mistakes: u32::try_from(settings.mistake_limit).unwrap_or(u32::MAX),
            unasked: settings.unasked_limit,
            calls: match settings.calls {
                CallsPerMessage::One => ParallelCalls::One,
                CallsPerMessage::Each => ParallelCalls::Each,
                CallsPerMessage::Parallel => ParallelCalls::Parallel,
            },
            window,
        }
    }
}

impl Default for TurnLimits {
    fn default() -> Self {
        Self::from_settings(&ChatSettings::default(), 128_000)
    }
}

/// What a conversation waits for.
#[derive(Clone, Debug, PartialEq)]
pub enum Phase {
    Idle,
    Thinking,
    /// The calls of an answer.
    Calling(CallBatch),
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
pub struct CallBatch {
    /// The input that was the answer: calls are named after it.
    pub number: u64,
    /// Whether they came through the vendor's API.
    pub native: bool,
    /// One for each call, in order.
    pub slots: Vec<CallSlot>,
    /// Whether the person gave them up.
    pub cancelled: bool,
    /// Whether one of them was the same call once too often.
    pub repeated: Option<u32>,
}

/// One call of an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct CallSlot {
    /// What was asked for.
    pub asked: TurnCall,
    /// How far it is.
    pub progress: SlotProgress,
    /// What the model is told beside the result.
    pub warning: Option<String>,
}

/// How far a call is.
#[derive(Clone, Debug, PartialEq)]
pub enum SlotProgress {
    /// It waits for those before it.
    Waiting,
    Running,
    Done(CallEnd),
}

impl Default for TurnState {
    fn default() -> Self {
        let limits = TurnLimits::default();
        Self {
            number: 0,
            messages: Vec::new(),
            phase: Phase::Idle,
            usage: TokenUsage::default(),
            fill: 0,
            cuts: 0,
            queued: Vec::new(),
            steps: 0,
            unasked: 0,
            mistakes: MistakeCounter::with_limit(limits.mistakes),
            repeats: RepeatDetector::new(),
            squeezed: false,
            limits,
        }
    }
}

impl TurnState {
    /// What has to be brought about for the conversation to go on from here, after its driver died.
    #[must_use]
    pub fn pending(&self) -> Vec<TurnEffect> {
        match &self.phase {
            Phase::Idle => Vec::new(),
            Phase::Thinking => vec![TurnEffect::AskModel],
            Phase::Asking(limit) => vec![TurnEffect::AskPerson(*limit)],
            Phase::Compacting { upto } => vec![TurnEffect::Compact { upto: *upto }],
            Phase::Calling(calling) => {
                let slots = calling.slots.iter().enumerate();
                slots
                    .filter(|(_, slot)| slot.progress == SlotProgress::Running)
                    .map(|(slot, _)| TurnEffect::Run { slot })
                    .collect()
            }
        }
    }

    /// The first call that was started and has not ended.
    #[must_use]
    pub fn running(&self) -> Option<usize> {
        match &self.phase {
            Phase::Calling(calling) => {
                calling.slots.iter().position(|slot| slot.progress == SlotProgress::Running)
            }
            Phase::Idle | Phase::Thinking | Phase::Asking(_) | Phase::Compacting { .. } => None,
        }
    }

    /// Whether the person is expected to speak.
    #[must_use]
    pub const fn is_idle(&self) -> bool {
        matches!(self.phase, Phase::Idle)
    }

    pub(super) fn push(&mut self, message: ChatMessage) {
        self.fill += message_tokens(&message);
        self.messages.push(message);
    }
}

/// About how many tokens a message has.
pub(super) fn message_tokens(message: &ChatMessage) -> usize {
    // What a picture costs depends on its size; this is what a usual one does.
    const PICTURE_TOKENS: usize = 1_000;
    let words = match message {
        ChatMessage::User { text, images } => estimate_tokens(text) + images.len() * PICTURE_TOKENS,
        ChatMessage::Assistant { text, calls, .. } => {
            let calls = calls.iter().map(|call| estimate_tokens(&call.arguments) + 12);
            estimate_tokens(text) + calls.sum::<usize>()
        }
        ChatMessage::Results { results } => results
            .iter()
            .map(|result| estimate_tokens(&result.text) + result.images.len() * PICTURE_TOKENS + 8)
            .sum(),
    };
    words + 4
}
