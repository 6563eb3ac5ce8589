//! The timeline of one call in flight, shared by the steps that add to it and the record.

use std::sync::Arc;

use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::Number;
use switchboard_wire::Json;

use crate::timeline::{Happened, Timeline, TimelineStep};

/// The timeline of a call in flight. Clones share it.
///
/// Most calls have no steps; for them, only the lock is allocated.
#[derive(Clone, Debug)]
pub struct CallTimeline(Option<Arc<Mutex<Option<Box<Timeline>>>>>);

/// A question of a server that has no answer yet.
#[derive(Debug)]
pub struct OpenQuestion {
    timeline: CallTimeline,
    place: usize,
}

impl Default for CallTimeline {
    fn default() -> Self {
        Self(Some(Arc::default()))
    }
}

impl From<Timeline> for CallTimeline {
    fn from(steps: Timeline) -> Self {
        Self(Some(Arc::new(Mutex::new(Some(Box::new(steps))))))
    }
}

impl CallTimeline {
    /// Returns a timeline that keeps nothing, for hosts that do not record calls.
    #[must_use]
    pub const fn off() -> Self {
        Self(None)
    }

    /// Adds a decision, unless the previous one was the same.
    pub fn add_decision(&self, verdict: &str, by: &str) {
        self.edit(|timeline| timeline.add_decision(verdict, by));
    }

    /// Adds a step that is not sampled.
    pub fn add(&self, step: TimelineStep) {
        self.edit(|timeline| timeline.add(step));
    }

    /// Adds a progress report, as the server sent it.
    pub fn add_progress(&self, report: &Json) {
        #[derive(Deserialize)]
        struct ProgressReport {
            progress: Number,
            total: Option<Number>,
            message: Option<String>,
        }
        // Checked before parsing: a server may send thousands of reports during one call.
        if self.0.is_none() {
            return;
        }
        // A malformed report must not fail the call that it belongs to.
        let Ok(ProgressReport { progress, total, message }) = report.read() else { return };
        self.edit(|timeline| timeline.add_progress(progress, total, message));
    }

    /// Adds a log message that the server sent during the call.
    pub fn add_log_message(&self, level: &str, text: &str) {
        self.edit(|timeline| timeline.add_log_message(level, text));
    }

    /// Adds a state of the task that the call has become.
    pub fn add_task(&self, status: &str, message: Option<&str>) {
        self.edit(|timeline| timeline.add_task(status, message));
    }

    /// Adds a question of the server.
    pub fn add_question(&self, method: &str, message: Option<String>) -> Option<OpenQuestion> {
        let what = Happened::Asked { method: method.to_owned(), message, answer: None };
        let place = self.edit(|timeline| timeline.add(TimelineStep::now(what))).flatten()?;
        Some(OpenQuestion { timeline: self.clone(), place })
    }

    /// Returns the steps so far, redacted for the record.
    #[must_use]
    pub fn snapshot(&self) -> Option<Box<Timeline>> {
        // Redaction scans every text, so it runs on a copy after the lock is released.
        let steps = self.0.as_ref()?.lock().clone();
        steps.map(|steps| Box::new(steps.into_redacted()))
    }

    /// Takes the steps of a call that ends, redacted for the record.
    #[must_use]
    pub fn take(&self) -> Option<Box<Timeline>> {
        let steps = self.0.as_ref()?.lock().take();
        steps.map(|steps| Box::new(steps.into_redacted()))
    }

    fn edit<T>(&self, change: impl FnOnce(&mut Timeline) -> T) -> Option<T> {
        let mut steps = self.0.as_ref()?.lock();
        Some(change(steps.get_or_insert_default()))
    }
}

impl OpenQuestion {
    /// Adds the answer, unless the call has ended.
    pub fn set_answer(self, word: String) {
        let Some(steps) = &self.timeline.0 else { return };
        // Not through `edit`, which would recreate the timeline that `take` removed.
        if let Some(timeline) = steps.lock().as_mut() {
            timeline.set_answer(self.place, word);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_shared_until_the_record_takes_them() {
        let timeline = CallTimeline::default();
        assert_eq!((timeline.snapshot(), timeline.take()), (None, None));
        let server = timeline.clone();
        server.add_log_message("info", "one");
        let question = server.add_question("roots/list", None);
        assert_eq!(timeline.snapshot().map(|steps| steps.steps().len()), Some(2));
        question.unwrap().set_answer("answered".to_owned());
        let steps = timeline.take().unwrap();
        assert!(steps.steps().iter().any(|step| matches!(
            &step.what,
            Happened::Asked { answer: Some(answer), .. } if answer == "answered"
        )));
        assert_eq!(timeline.take(), None);
    }

    #[test]
    fn an_answer_after_the_end_of_its_call_leaves_nothing_behind() {
        let timeline = CallTimeline::default();
        let question = timeline.add_question("roots/list", None).unwrap();
        assert!(timeline.take().is_some());
        question.set_answer("late".to_owned());
        assert_eq!(timeline.snapshot(), None);
    }

    #[test]
    fn nothing_is_held_where_calls_are_not_recorded() {
        let timeline = CallTimeline::off();
        timeline.add_log_message("info", "");
        assert!(timeline.snapshot().is_none());
        assert!(timeline.add_question("roots/list", None).is_none());
    }
}
