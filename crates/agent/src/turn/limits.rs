//! What a conversation may do before a person has to speak.

use serde::{Deserialize, Serialize};
use switchboard_config::{CallsPerMessage, ChatSettings};

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
