//! The steps of calls that are under way, by their number, until the record takes them.
//!
//! Most calls have none: for them nothing is made and nothing is locked.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::{Mutex, MutexGuard};
use serde::Deserialize;
use serde_json::Number;
use switchboard_wire::Json;

use crate::timeline::{Happened, Timeline, TimelineStep};

/// Of so many calls steps are held at the same time; the oldest give way.
const MAX_CALLS: usize = 4_096;

/// What happens to calls that are under way. Clones share it.
#[derive(Clone, Debug)]
pub struct Timelines(Option<Arc<OpenTimelines>>);

#[derive(Debug, Default)]
struct OpenTimelines {
    /// How many there are: whoever ends a call looks here, and takes the lock only if there is one.
    count: AtomicUsize,
    all: Mutex<BTreeMap<u64, Timeline>>,
}

/// A question of a server that has no answer yet.
#[derive(Debug)]
pub struct OpenQuestion<'a> {
    timelines: &'a Timelines,
    call: u64,
    place: usize,
}

impl Default for Timelines {
    fn default() -> Self {
        Self(Some(Arc::default()))
    }
}

impl Timelines {
    /// Keeps nothing, where calls are not recorded.
    #[must_use]
    pub const fn off() -> Self {
        Self(None)
    }

    /// Adds what is decided about a call, unless that is what was decided before.
    pub fn add_decision(&self, call: u64, verdict: &str, by: &str) {
        self.edit(call, |timeline| timeline.add_decision(verdict, by));
    }

    /// Adds a hook to a call.
    pub fn add(&self, call: u64, step: TimelineStep) {
        self.edit(call, |timeline| timeline.add(step));
    }

    /// Adds a report of progress, as the server sent it.
    pub fn add_progress(&self, call: u64, report: &Json) {
        #[derive(Deserialize)]
        struct ProgressReport {
            progress: Number,
            total: Option<Number>,
            message: Option<String>,
        }
        if self.0.is_none() {
            return;
        }
        let Ok(ProgressReport { progress, total, message }) = report.read() else { return };
        self.edit(call, |timeline| timeline.add_progress(progress, total, message));
    }

    /// Adds a message that the server sent meanwhile.
    pub fn add_log_message(&self, call: u64, level: &str, text: &str) {
        self.edit(call, |timeline| timeline.add_log_message(level, text));
    }

    /// Adds what the server says of the task that a call has become.
    pub fn add_task(&self, call: u64, status: &str, message: Option<&str>) {
        self.edit(call, |timeline| timeline.add_task(status, message));
    }

    /// Adds a question of the server.
    pub fn add_question(
        &self,
        call: u64,
        method: &str,
        message: Option<String>,
    ) -> Option<OpenQuestion<'_>> {
        let what = Happened::Asked { method: method.to_owned(), message, answer: None };
        let step = TimelineStep::now(what);
        let place = self.edit(call, |timeline| timeline.add(step)).flatten()?;
        Some(OpenQuestion { timelines: self, call, place })
    }

    /// The steps of a call so far, as they may be written down.
    pub fn snapshot(&self, call: u64) -> Option<Box<Timeline>> {
        let steps = self.lock_if_any()?.get(&call).cloned();
        steps.map(|steps| Box::new(steps.into_redacted()))
    }

    /// The steps of a call that ends, as they may be written down.
    pub fn take(&self, call: u64) -> Option<Box<Timeline>> {
        let mut all = self.lock_if_any()?;
        let steps = all.remove(&call);
        self.store_count(&all);
        drop(all);
        steps.map(|steps| Box::new(steps.into_redacted()))
    }

    /// Puts back the steps of a call that somebody takes up again.
    pub fn restore(&self, call: u64, steps: &Timeline) {
        self.edit(call, |timeline| {
            if *timeline == Timeline::default() {
                timeline.clone_from(steps);
            }
        });
    }

    fn edit<T>(&self, call: u64, change: impl FnOnce(&mut Timeline) -> T) -> Option<T> {
        let calls = self.0.as_ref()?;
        let mut all = calls.all();
        if all.len() >= MAX_CALLS && !all.contains_key(&call) {
            // Numbers grow, so this is the oldest: most likely one whose end nobody waited for.
            all.pop_first();
        }
        let changed = change(all.entry(call).or_default());
        self.store_count(&all);
        Some(changed)
    }

    /// All of them, if there are any.
    fn lock_if_any(&self) -> Option<MutexGuard<'_, BTreeMap<u64, Timeline>>> {
        let calls = self.0.as_ref()?;
        (calls.count.load(Ordering::Acquire) > 0).then(|| calls.all())
    }

    fn store_count(&self, all: &BTreeMap<u64, Timeline>) {
        if let Some(calls) = &self.0 {
            calls.count.store(all.len(), Ordering::Release);
        }
    }
}

impl OpenTimelines {
    fn all(&self) -> MutexGuard<'_, BTreeMap<u64, Timeline>> {
        self.all.lock()
    }
}

impl OpenQuestion<'_> {
    /// Adds the answer, unless the call has ended.
    pub fn set_answer(self, word: String) {
        let Some(mut all) = self.timelines.lock_if_any() else { return };
        if let Some(timeline) = all.get_mut(&self.call) {
            timeline.set_answer(self.place, word);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_found_by_the_number_of_their_call_and_are_gone_with_it() {
        let timelines = Timelines::default();
        assert_eq!((timelines.snapshot(1), timelines.take(1)), (None, None));
        timelines.add_log_message(1, "info", "one");
        timelines.add_log_message(2, "info", "two");
        let question = timelines.add_question(2, "roots/list", None);
        assert!(timelines.snapshot(1).is_some());
        assert_eq!(timelines.take(1).map(|steps| steps.steps().len()), Some(1));
        assert_eq!(timelines.take(1), None);
        question.unwrap().set_answer("answered".to_owned());
        let two = timelines.take(2).unwrap();
        assert!(matches!(
            &two.steps()[1].what,
            Happened::Asked { answer: Some(answer), .. } if answer == "answered"
        ));
        assert_eq!(timelines.0.unwrap().count.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn an_answer_after_the_end_of_its_call_leaves_nothing_behind() {
        let timelines = Timelines::default();
        timelines.add_log_message(1, "info", "another call");
        let question = timelines.add_question(7, "roots/list", None).unwrap();
        timelines.take(7);
        question.set_answer("late".to_owned());
        assert_eq!(timelines.snapshot(7), None);
    }

    #[test]
    fn the_oldest_give_way_where_there_are_too_many() {
        let timelines = Timelines::default();
        for call in 0..=MAX_CALLS as u64 {
            timelines.add_log_message(call, "info", "");
        }
        assert!(timelines.snapshot(0).is_none());
        assert!(timelines.snapshot(1).is_some() && timelines.snapshot(MAX_CALLS as u64).is_some());
    }

    #[test]
    fn nothing_is_held_where_calls_are_not_recorded() {
        let timelines = Timelines::off();
        timelines.add_log_message(1, "info", "");
        assert!(
            timelines.snapshot(1).is_none()
                && timelines.add_question(1, "roots/list", None).is_none()
        );
    }
}
