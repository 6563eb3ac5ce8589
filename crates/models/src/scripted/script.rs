//! The script of a scripted model: its turns, and how the turn for a request is chosen.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use switchboard_prompting::{ChatMessage, StopReason, TokenUsage};

#[derive(Debug, Deserialize)]
pub(super) struct ModelScript {
    #[serde(default)]
    pub(super) order: ScriptOrder,
    pub(super) turns: Vec<ScriptTurn>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(super) enum ScriptOrder {
    // The number of answers so far selects the turn, so rewinding a conversation rewinds it.
    #[default]
    History,
    Sequence,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ScriptTurn {
    #[serde(default)]
    pub(super) expect: Vec<String>,
    #[serde(default)]
    pub(super) capture: BTreeMap<String, TextCapture>,
    #[serde(default)]
    pub(super) thinking: String,
    #[serde(default)]
    pub(super) text: String,
    #[serde(default)]
    pub(super) calls: Vec<ScriptedCall>,
    pub(super) stop: Option<ScriptedStop>,
    #[serde(default)]
    pub(super) usage: ScriptedUsage,
    pub(super) chunk: Option<usize>,
    #[serde(default)]
    pub(super) delay_ms: u64,
    // The alternative turn if `expect` does not match.
    #[serde(rename = "or")]
    otherwise: Option<Box<Self>>,
}

impl ScriptTurn {
    /// Returns this turn, or its alternative if the newest message does not match `expect`.
    pub(super) fn fitting_branch(&self, newest: &str) -> &Self {
        let met = self.expect.iter().all(|expected| newest.contains(expected.as_str()));
        match &self.otherwise {
            Some(other) if !met => other.fitting_branch(newest),
            _ => self,
        }
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct TextCapture {
    #[serde(default)]
    after: String,
    #[serde(default)]
    before: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct ScriptedCall {
    pub(super) name: String,
    #[serde(default)]
    pub(super) arguments: Value,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ScriptedStop {
    End,
    Calls,
    Length,
    Refused,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ScriptedUsage {
    input: u64,
    output: u64,
    cached: u64,
}

pub(super) type Captures = BTreeMap<String, String>;

impl TextCapture {
    /// Returns the text between the marks, or all after the first if there is no second.
    pub(super) fn find<'a>(&self, text: &'a str) -> Option<&'a str> {
        let (_, rest) = text.split_once(&*self.after)?;
        if self.before.is_empty() {
            return Some(rest);
        }
        rest.split_once(&*self.before).map(|(found, _)| found)
    }
}

impl ScriptedStop {
    pub(super) fn meaning(self) -> StopReason {
        match self {
            Self::End => StopReason::End,
            Self::Calls => StopReason::Calls,
            Self::Length => StopReason::Length,
            Self::Refused => StopReason::Refused,
        }
    }
}

impl From<ScriptedUsage> for TokenUsage {
    fn from(cost: ScriptedUsage) -> Self {
        Self { input: cost.input, output: cost.output, cached: cost.cached }
    }
}

pub(super) fn answers(messages: &[ChatMessage]) -> usize {
    messages.iter().filter(|message| matches!(message, ChatMessage::Assistant { .. })).count()
}

pub(super) fn newest(messages: &[ChatMessage]) -> String {
    match messages.last() {
        Some(ChatMessage::User { text, .. } | ChatMessage::Assistant { text, .. }) => text.clone(),
        Some(ChatMessage::Results { results }) => {
            let texts: Vec<&str> = results.iter().map(|result| result.text.as_str()).collect();
            texts.join("\n")
        }
        None => String::new(),
    }
}

/// Returns the captures of all turns up to the last answer.
pub(super) fn captured_before(turns: &[ScriptTurn], messages: &[ChatMessage]) -> Captures {
    let is_answer =
        |(_, message): &(usize, &ChatMessage)| matches!(message, ChatMessage::Assistant { .. });
    let answers = messages.iter().enumerate().filter(is_answer);
    let mut captured = Captures::new();
    for (turn, (place, _)) in turns.iter().zip(answers) {
        let asked = newest(messages.get(..place).unwrap_or_default());
        for (name, capture) in &turn.fitting_branch(&asked).capture {
            if let Some(found) = capture.find(&asked) {
                captured.insert(name.clone(), found.to_owned());
            }
        }
    }
    captured
}
