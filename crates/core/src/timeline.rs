//! The steps between the start and the end of a call, in bounded memory.

use std::time::Duration;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Number;
use switchboard_text::redact_text;

/// Maximum number of sampled steps of one kind, in addition to the first and the last.
const MAX_SAMPLED: usize = 20;
/// Maximum number of decisions, hooks and questions.
const MAX_SINGLE: usize = 200;
/// Maximum length of a recorded text, in characters.
const MAX_TEXT_CHARS: usize = 500;
/// Maximum length of a text before redaction, in characters.
// Longer than `MAX_TEXT_CHARS`: half a secret would no longer be recognized and redacted.
const MAX_BUFFERED_CHARS: usize = 4_000;

/// The steps of one call, in addition to those in its row.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timeline {
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
    /// The duration in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    took: Option<u64>,
    #[serde(flatten)]
    pub what: Happened,
}

/// A step in the course of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Happened {
    /// The call was allowed, denied or sent to review.
    Decided {
        /// The verdict: `allow`, `ask` or `deny`.
        verdict: String,
        /// The rule, person or hook that decided.
        by: String,
    },
    /// A hook ran before or after the call.
    Hook {
        /// The hook's name in its file.
        hook: String,
        /// The level of the hook's file, such as `user` or `project`.
        level: String,
        /// The hook's event: `beforeMCPExecution` or `afterMCPExecution`.
        when: String,
        /// The hook's answer as one word, or `told` or `error`.
        answer: String,
        /// The reason that the hook failed.
        problem: Option<String>,
        /// The hook's message to the person or the model.
        message: Option<String>,
    },
    /// The server sent a request during the call.
    Asked {
        /// The protocol method of the request.
        method: String,
        /// The server's message to the person.
        message: Option<String>,
        /// The answer as one word, or the reason of a refusal; null if the call ended first.
        answer: Option<String>,
    },
    /// The server reported progress of the call.
    Progress {
        /// The number of the report, from 1.
        number: u64,
        /// The progress made so far.
        progress: Number,
        /// The progress at completion, if known.
        total: Option<Number>,
        /// The server's description of the progress.
        message: Option<String>,
    },
    /// The server sent a log message.
    Said {
        /// The number of the message, from 1.
        number: u64,
        /// The severity, in the protocol's word.
        level: String,
        /// The text of the message.
        text: String,
    },
    /// The server runs the call as a task, or reported a new state of it.
    Task {
        /// The number of the report, from 1.
        number: u64,
        /// The task's status, in the protocol's word.
        status: String,
        /// The server's description of the status.
        message: Option<String>,
    },
}

/// One step of a call's timeline.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ShownStep {
    /// The time at which the step began.
    pub at: String,
    /// Milliseconds between the start of the call and this step.
    pub after_milliseconds: f64,
    /// The duration in milliseconds, if known.
    pub milliseconds: Option<f64>,
    /// The kind of step and its details.
    #[serde(flatten)]
    pub what: Happened,
}

impl TimelineStep {
    /// Creates a step that has just ended.
    pub fn ended_now(took: Duration, what: Happened) -> Self {
        let now = Timestamp::now();
        Self { at: now.checked_sub(took).unwrap_or(now), took: Some(microseconds(took)), what }
    }

    /// Creates a step at the current time.
    pub fn now(what: Happened) -> Self {
        Self { at: Timestamp::now(), took: None, what }
    }

    /// Returns the duration, if known.
    pub fn took(&self) -> Option<Duration> {
        self.took.map(Duration::from_micros)
    }
}

impl Timeline {
    /// Returns all kept steps, in the order of their times.
    pub fn steps(&self) -> Vec<&TimelineStep> {
        let thinned =
            [&self.progress, &self.said, &self.task].into_iter().flat_map(SampledSteps::steps);
        let mut steps: Vec<&TimelineStep> = self.single.iter().chain(thinned).collect();
        steps.sort_by_key(|step| step.at);
        steps
    }

    /// Returns the view models of the steps, with times relative to the opening of the call.
    pub fn step_views(&self, opened: Timestamp) -> Vec<ShownStep> {
        let shown = |step: &TimelineStep| ShownStep {
            at: step.at.to_string(),
            after_milliseconds: step.at.duration_since(opened).as_secs_f64() * 1_000.0,
            milliseconds: step.took().map(|took| took.as_secs_f64() * 1_000.0),
            what: step.what.clone(),
        };
        self.steps().into_iter().map(shown).collect()
    }

    /// Returns the number of progress reports, kept or not.
    pub const fn progress_reports(&self) -> u64 {
        self.progress.count
    }

    /// Returns the number of log messages of the server, kept or not.
    pub const fn messages(&self) -> u64 {
        self.said.count
    }

    /// Serializes the timeline for the record.
    pub fn to_text(&self) -> String {
        // Serialization cannot fail: every member is valid JSON.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Parses a serialized timeline; `None` if it is not valid.
    pub fn from_text(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// Adds a decision, a hook or a question; returns its index, or `None` if the timeline is full.
    pub fn add(&mut self, step: TimelineStep) -> Option<usize> {
        // A server that asks without end must not make the record grow without end.
        if self.single.len() >= MAX_SINGLE {
            return None;
        }
        self.single.push(step);
        Some(self.single.len() - 1)
    }

    /// Adds a decision, unless the previous one was the same.
    pub fn add_decision(&mut self, verdict: &str, by: &str) {
        // The policy decides again after a hook has run, usually with the same verdict.
        let decided = Happened::Decided { verdict: verdict.to_owned(), by: by.to_owned() };
        let is_decision = |step: &&TimelineStep| matches!(step.what, Happened::Decided { .. });
        let before = self.single.iter().rev().find(is_decision);
        if before.is_none_or(|before| before.what != decided) {
            self.add(TimelineStep::now(decided));
        }
    }

    /// Sets the answer of a question, and its duration.
    pub fn set_answer(&mut self, place: usize, word: String) {
        let Some(step) = self.single.get_mut(place) else { return };
        if let Happened::Asked { answer, .. } = &mut step.what {
            *answer = Some(word);
            // Negative if the clock was set back since; the duration is then unknown.
            let took = Timestamp::now().duration_since(step.at);
            step.took = Duration::try_from(took).ok().map(microseconds);
        }
    }

    /// Adds a progress report of the server.
    pub fn add_progress(
        &mut self,
        progress: Number,
        total: Option<Number>,
        message: Option<String>,
    ) {
        let message = message.map(truncate_buffered);
        self.progress.add(|number| Happened::Progress { number, progress, total, message });
    }

    /// Adds a log message of the server.
    pub fn add_log_message(&mut self, level: &str, text: &str) {
        let level = truncate_buffered(level.to_owned());
        let text = truncate_buffered(text.to_owned());
        self.said.add(|number| Happened::Said { number, level, text });
    }

    /// Adds a state of the task that the call has become.
    pub fn add_task(&mut self, status: &str, message: Option<&str>) {
        let status = status.to_owned();
        let message = message.map(str::to_owned).map(truncate_buffered);
        self.task.add(|number| Happened::Task { number, status, message });
    }

    /// Redacts secrets and truncates texts.
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
        // Fields are listed instead of skipped by `..`, so that no new text escapes redaction.
        let texts: [Option<&mut String>; 4] = match self {
            Self::Decided { by, verdict: _ } => [Some(by), None, None, None],
            Self::Hook { hook, problem, message, level: _, when: _, answer: _ } => {
                [Some(hook), problem.as_mut(), message.as_mut(), None]
            }
            Self::Asked { method, message, answer } => {
                [Some(method), message.as_mut(), answer.as_mut(), None]
            }
            Self::Progress { message, number: _, progress: _, total: _ } => {
                [message.as_mut(), None, None, None]
            }
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

/// Steps of a frequent kind: the first, the last, and a sample at equal distances.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct SampledSteps {
    /// The number of steps, kept or not.
    count: u64,
    /// The sampling interval, which doubles whenever `kept` is full.
    every: u64,
    kept: Vec<TimelineStep>,
    /// The last step, unless it is in `kept`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last: Option<TimelineStep>,
}

impl SampledSteps {
    const fn is_empty(&self) -> bool {
        self.count == 0
    }

    fn add(&mut self, what: impl FnOnce(u64) -> Happened) {
        // The derived default is 0.
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
            // The number of kept steps is even here, so `retain` would drop the last one.
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
