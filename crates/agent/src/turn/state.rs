//! The state of a conversation, and its limits.

use serde::{Deserialize, Serialize};
use switchboard_config::{CallsPerMessage, ChatSettings};
use switchboard_prompting::{
    ChatMessage, Image, MistakeCounter, RepeatDetector, TokenUsage, estimate_tokens,
};

use crate::turn::effect::{Limit, TurnEffect};
use crate::turn::input::{CallEnd, TurnCall};

/// The state of a conversation, derived from its inputs alone.
#[derive(Clone, Debug)]
pub struct TurnState {
    /// Number of inputs so far.
    pub number: u64,
    pub limits: TurnLimits,
    /// The conversation as the model sees it.
    pub messages: Vec<ChatMessage>,
    pub phase: Phase,
    /// The tokens used by all answers.
    pub usage: TokenUsage,
    /// Estimated tokens of the next request.
    pub fill: usize,
    /// How many times the beginning was replaced with a summary.
    pub cuts: usize,
    pub(super) queued: Vec<(String, Vec<Image>)>,
    pub(super) steps: usize,
    pub(super) unasked: usize,
    pub(super) mistakes: MistakeCounter,
    pub(super) repeats: RepeatDetector,
    /// Whether the messages were cut because the vendor rejected this request as too long.
    pub(super) squeezed: bool,
}

/// Limits on a turn before the user is asked, and how calls are run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnLimits {
    /// Maximum number of requests to the model per turn.
    pub steps: usize,
    /// Maximum number of consecutive mistakes.
    pub mistakes: u32,
    /// Maximum number of consecutive calls that run without approval by a person.
    pub unasked: usize,
    pub calls: ParallelCalls,
    /// The context window of the model, in tokens.
    pub window: usize,
}

/// How multiple calls in one message are run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ParallelCalls {
    /// Only the first runs; the others are left out.
    One,
    /// All run, one after the other.
    #[default]
    Each,
    Parallel,
}

impl TurnLimits {
    /// Returns the limits of the settings, for a model with this context window.
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

/// The activity that a conversation waits for.
#[derive(Clone, Debug, PartialEq)]
pub enum Phase {
    Idle,
    Thinking,
    Calling(CallBatch),
    /// The user is asked whether to continue after a limit.
    Asking(Limit),
    /// The first `upto` messages are being summarized.
    Compacting {
        upto: usize,
    },
}

/// The calls of one answer.
#[derive(Clone, Debug, PartialEq)]
pub struct CallBatch {
    /// The step number of the answer, which identifies its calls.
    pub number: u64,
    /// Whether the calls are native, through the vendor's API.
    pub native: bool,
    pub slots: Vec<CallSlot>,
    pub cancelled: bool,
    /// How many times a call was repeated, if that exceeded the limit.
    pub repeated: Option<u32>,
}

/// One call of an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct CallSlot {
    pub asked: TurnCall,
    pub progress: SlotProgress,
    /// The warning to add to the result for the model.
    pub warning: Option<String>,
}

/// The progress of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum SlotProgress {
    /// Waiting for earlier calls.
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
    /// Returns the effects that are still to be performed, to resume a conversation after a crash.
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

    /// Returns the first call that is running.
    #[must_use]
    pub fn running(&self) -> Option<usize> {
        let Phase::Calling(calling) = &self.phase else { return None };
        calling.slots.iter().position(|slot| slot.progress == SlotProgress::Running)
    }

    /// Returns whether the conversation waits for a user message.
    #[must_use]
    pub const fn is_idle(&self) -> bool {
        matches!(self.phase, Phase::Idle)
    }

    pub(super) fn push(&mut self, message: ChatMessage) {
        self.fill += message_tokens(&message);
        self.messages.push(message);
    }
}

/// Estimates the tokens of a message.
pub(super) fn message_tokens(message: &ChatMessage) -> usize {
    // Vendors charge images by size; this is a typical value. The small constants
    // account for the structure around each message, call and result.
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
