//! What happens between a call's beginning and its end, step by step: kept short however much happens.

use std::time::Duration;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Number;
use switchboard_text::redact_text;

/// As many steps of one kind are kept beside the first and the last of them.
const MAX_SAMPLED: usize = 20;
/// As many steps are kept of those that do not come in floods.
const MAX_SINGLE: usize = 200;
/// As much of a text is kept, in characters.
const MAX_TEXT_CHARS: usize = 500;
/// As much of it is held until secrets are taken out of it, in characters.
const MAX_BUFFERED_CHARS: usize = 4_000;

/// The steps of one call, beside those that its row has anyway.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timeline {
    /// Decisions, hooks and questions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    single: Vec<TimelineStep>,
    #[serde(default, skip_serializing_if = "SampledSteps::is_empty")]
    progress: SampledSteps,
    #[serde(default, skip_serializing_if = "SampledSteps::is_empty")]
    said: SampledSteps,
    #[serde(default, skip_serializing_if = "SampledSteps::is_empty")]
    task: SampledSteps,
}

/// One step of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimelineStep {
    #[serde(serialize_with = "to_microseconds", deserialize_with = "from_microseconds")]
    pub at: Timestamp,
    /// How long it took, in microseconds, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    took: Option<u64>,
    #[serde(flatten)]
    pub what: Happened,
}

/// What can happen in the course of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Happened {
    /// It was decided about, before or after a hook was asked.
    Decided {
        /// `allow`, `ask` or `deny`.
        verdict: String,
        /// The rule, the person or the hook.
        by: String,
    },
    /// A hook was asked before the call or told after it.
    Hook {
        /// The hook, as its file names it.
        hook: String,
        /// Whose it is.
        level: String,
        /// `beforeMCPExecution` or `afterMCPExecution`.
        when: String,
        /// What it answered, in one word; `told`, or `error`.
        answer: String,
        /// What went wrong with it.
        problem: Option<String>,
        /// What it said to the person or to the model.
        message: Option<String>,
    },
    /// The server asked for something.
    Asked {
        /// What for: the method of the protocol.
        method: String,
        /// What it said to the person.
        message: Option<String>,
        /// What it was answered, in one word or with the reason of the refusal; none if the call
        /// ended before.
        answer: Option<String>,
    },
    /// The server told how far it is.
    Progress {
        /// Which report it is, from 1.
        number: u64,
        /// How far.
        progress: Number,
        /// Of how much.
        total: Option<Number>,
        /// In words.
        message: Option<String>,
    },
    /// The server sent a message for its log.
    Said {
        /// Which message it is, from 1.
        number: u64,
        /// How serious it is.
        level: String,
        /// The message.
        text: String,
    },
    /// The server goes on with the call as a task, or said something new of that.
    Task {
        /// Which word of the server it is, from 1.
        number: u64,
        /// How far the task is, in the protocol's word.
        status: String,
        /// What the server says of it.
        message: Option<String>,
    },
}

/// A step as faces show it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ShownStep {
    /// When it began.
    pub at: String,
    /// How long after the call was opened, in milliseconds.
    pub after_milliseconds: f64,
    /// How long it took, where that is known.
    pub milliseconds: Option<f64>,
    /// What it was.
    #[serde(flatten)]
    pub what: Happened,
}

impl TimelineStep {
    /// A step that has just ended.
    #[must_use]
    pub fn ended_now(took: Duration, what: Happened) -> Self {
        let now = Timestamp::now();
        Self { at: now.checked_sub(took).unwrap_or(now), took: Some(microseconds(took)), what }
    }

    /// A step of this moment.
    #[must_use]
    pub fn now(what: Happened) -> Self {
        Self { at: Timestamp::now(), took: None, what }
    }

    /// How long it took, where that is known.
    #[must_use]
    pub fn took(&self) -> Option<Duration> {
        self.took.map(Duration::from_micros)
    }
}

impl Timeline {
    /// All steps that are kept, in the order of their times.
    #[must_use]
    pub fn steps(&self) -> Vec<&TimelineStep> {
        let thinned =
            [&self.progress, &self.said, &self.task].into_iter().flat_map(SampledSteps::steps);
        let mut steps: Vec<&TimelineStep> = self.single.iter().chain(thinned).collect();
        steps.sort_by_key(|step| step.at);
        steps
    }

    /// The same for faces, with times since the call was opened.
    #[must_use]
    pub fn step_views(&self, opened: Timestamp) -> Vec<ShownStep> {
        let shown = |step: &TimelineStep| ShownStep {
            at: step.at.to_string(),
            after_milliseconds: step.at.duration_since(opened).as_secs_f64() * 1_000.0,
            milliseconds: step.took().map(|took| took.as_secs_f64() * 1_000.0),
            what: step.what.clone(),
        };
        self.steps().into_iter().map(shown).collect()
    }

    /// How many reports of progress there were, kept or not.
    #[must_use]
    pub const fn progress_reports(&self) -> u64 {
        self.progress.count
    }

    /// How many messages for its log the server sent, kept or not.
    #[must_use]
    pub const fn messages(&self) -> u64 {
        self.said.count
    }

    /// The text that is written down.
    pub fn to_text(&self) -> String {
        // There is nothing in it that JSON does not have.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// What was written down; nothing if it is not what we wrote.
    pub fn from_text(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// Adds a decision, a hook or a question; gives its place.
    pub fn add(&mut self, step: TimelineStep) -> Option<usize> {
        if self.single.len() >= MAX_SINGLE {
            return None;
        }
        self.single.push(step);
        Some(self.single.len() - 1)
    }

    /// Adds a decision, unless it is the one before.
    pub fn add_decision(&mut self, verdict: &str, by: &str) {
        let decided = Happened::Decided { verdict: verdict.to_owned(), by: by.to_owned() };
        let is_decision = |step: &&TimelineStep| matches!(step.what, Happened::Decided { .. });
        let before = self.single.iter().rev().find(is_decision);
        if before.is_none_or(|before| before.what != decided) {
            self.add(TimelineStep::now(decided));
        }
    }

    /// Adds what a question was answered.
    pub fn set_answer(&mut self, place: usize, word: String) {
        let Some(step) = self.single.get_mut(place) else { return };
        if let Happened::Asked { answer, .. } = &mut step.what {
            *answer = Some(word);
            let took = Timestamp::now().duration_since(step.at);
            step.took = Duration::try_from(took).ok().map(microseconds);
        }
    }

    /// Adds a report of progress.
    pub fn add_progress(
        &mut self,
        progress: Number,
        total: Option<Number>,
        message: Option<String>,
    ) {
        let message = message.map(truncate_buffered);
        self.progress.add(|number| Happened::Progress { number, progress, total, message });
    }

    /// Adds a message for the server's log.
    pub fn add_log_message(&mut self, level: &str, text: &str) {
        let level = truncate_buffered(level.to_owned());
        let text = truncate_buffered(text.to_owned());
        self.said.add(|number| Happened::Said { number, level, text });
    }

    /// Adds what the server says of the task that the call has become.
    pub fn add_task(&mut self, status: &str, message: Option<&str>) {
        let status = status.to_owned();
        let message = message.map(str::to_owned).map(truncate_buffered);
        self.task.add(|number| Happened::Task { number, status, message });
    }

    /// The same without secrets, and with short texts.
    pub(crate) fn into_redacted(mut self) -> Self {
        let thinned = [&mut self.progress, &mut self.said, &mut self.task];
        let thinned = thinned.into_iter().flat_map(SampledSteps::steps_mut);
        for step in self.single.iter_mut().chain(thinned) {
            step.what.redact();
        }
        self
    }
}

impl Happened {
    fn redact(&mut self) {
        let texts: [Option<&mut String>; 4] = match self {
            Self::Decided { by, verdict: _ } => [Some(by), None, None, None],
            Self::Hook { hook, problem, message, level: _, when: _, answer: _ } => {
                [Some(hook), problem.as_mut(), message.as_mut(), None]
            }
            Self::Asked { method, message, answer } => {
                [Some(method), message.as_mut(), answer.as_mut(), None]
            }
            Self::Progress { message, .. } => [message.as_mut(), None, None, None],
            Self::Said { level, text, number: _ } => [Some(level), Some(text), None, None],
            Self::Task { status, message, number: _ } => {
                [Some(status), message.as_mut(), None, None]
            }
        };
        for text in texts.into_iter().flatten() {
            let clean = redact_text(text).into_owned();
            *text = truncate(clean, MAX_TEXT_CHARS);
        }
    }
}

/// Steps of one kind that may come in floods: the first, the last, and some in between at equal
/// distances.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct SampledSteps {
    /// How many there were.
    count: u64,
    /// One of so many is kept.
    every: u64,
    kept: Vec<TimelineStep>,
    /// The last one, unless it is among the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last: Option<TimelineStep>,
}

impl SampledSteps {
    const fn is_empty(&self) -> bool {
        self.count == 0
    }

    fn add(&mut self, what: impl FnOnce(u64) -> Happened) {
        self.every = self.every.max(1);
        let is_kept = self.count.is_multiple_of(self.every);
        self.count += 1;
        let step = TimelineStep::now(what(self.count));
        if !is_kept {
            self.last = Some(step);
            return;
        }
        self.last = None;
        self.kept.push(step);
        if self.kept.len() > MAX_SAMPLED + 1 {
            self.every *= 2;
            // Of an even number of steps, this one is the last that goes.
            self.last = self.kept.pop();
            let mut is_odd = true;
            self.kept.retain(|_| {
                is_odd = !is_odd;
                !is_odd
            });
        }
    }

    fn steps(&self) -> impl Iterator<Item = &TimelineStep> {
        self.kept.iter().chain(&self.last)
    }

    fn steps_mut(&mut self) -> impl Iterator<Item = &mut TimelineStep> {
        self.kept.iter_mut().chain(&mut self.last)
    }
}

fn truncate_buffered(text: String) -> String {
    truncate(text, MAX_BUFFERED_CHARS)
}

fn truncate(mut text: String, characters: usize) -> String {
    if let Some((end, _)) = text.char_indices().nth(characters) {
        text.truncate(end);
        text.push('…');
    }
    text
}

fn microseconds(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

fn to_microseconds<S: serde::Serializer>(at: &Timestamp, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_i64(at.as_microsecond())
}

fn from_microseconds<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Timestamp, D::Error> {
    Timestamp::from_microsecond(i64::deserialize(from)?).map_err(serde::de::Error::custom)
}

#[cfg(test)]
#[path = "timeline_tests.rs"]
mod tests;
