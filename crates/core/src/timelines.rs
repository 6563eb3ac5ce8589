//! The steps of calls that are under way, by their number, until the record takes them.
//!
//! Most calls have none: for them nothing is made and nothing is locked.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Deserialize;
use serde_json::Number;
use switchboard_wire::Json;

use crate::timeline::{Happened, Timeline, TimelineStep};

/// Of so many calls steps are held at the same time; the oldest give way.
const MOST_CALLS: usize = 4_096;

/// What happens to calls that are under way. Clones share it.
#[derive(Clone, Debug)]
pub struct Timelines(Option<Arc<Calls>>);

#[derive(Debug, Default)]
struct Calls {
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
        self.change(call, |timeline| timeline.add_decision(verdict, by));
    }

    /// Adds a hook to a call.
    pub fn add(&self, call: u64, step: TimelineStep) {
        self.change(call, |timeline| timeline.add(step));
    }

    /// Adds a report of progress, as the server sent it.
    pub fn add_progress(&self, call: u64, report: &Json) {
        #[derive(Deserialize)]
        struct Report {
            progress: Number,
            total: Option<Number>,
            message: Option<String>,
        }
        if self.0.is_none() {
            return;
        }
        let Ok(Report { progress, total, message }) = report.read() else { return };
        self.change(call, |timeline| timeline.add_progress(progress, total, message));
    }

    /// Adds a message that the server sent meanwhile.
    pub fn add_said(&self, call: u64, level: &str, text: &str) {
        self.change(call, |timeline| timeline.add_said(level, text));
    }

    /// Adds what the server says of the task that a call has become.
    pub fn add_task(&self, call: u64, status: &str, message: Option<&str>) {
        self.change(call, |timeline| timeline.add_task(status, message));
    }

    /// Adds a question of the server.
    pub fn ask(
        &self,
        call: u64,
        method: &str,
        message: Option<String>,
    ) -> Option<OpenQuestion<'_>> {
        let what = Happened::Asked { method: method.to_owned(), message, answer: None };
        let step = TimelineStep::now(what);
        let place = self.change(call, |timeline| timeline.add(step)).flatten()?;
        Some(OpenQuestion { timelines: self, call, place })
    }

    /// The steps of a call so far, as they may be written down.
    pub fn of(&self, call: u64) -> Option<Box<Timeline>> {
        let steps = self.some()?.get(&call).cloned();
        steps.map(|steps| Box::new(steps.cleaned()))
    }

    /// The steps of a call that ends, as they may be written down.
    pub fn take(&self, call: u64) -> Option<Box<Timeline>> {
        let mut all = self.some()?;
        let steps = all.remove(&call);
        self.counted(&all);
        drop(all);
        steps.map(|steps| Box::new(steps.cleaned()))
    }

    /// Puts back the steps of a call that somebody takes up again.
    pub fn restore(&self, call: u64, steps: &Timeline) {
        self.change(call, |timeline| {
            if *timeline == Timeline::default() {
                timeline.clone_from(steps);
            }
        });
    }

    fn change<T>(&self, call: u64, change: impl FnOnce(&mut Timeline) -> T) -> Option<T> {
        let calls = self.0.as_ref()?;
        let mut all = calls.all();
        if all.len() >= MOST_CALLS && !all.contains_key(&call) {
            // Numbers grow, so this is the oldest: most likely one whose end nobody waited for.
            all.pop_first();
        }
        let changed = change(all.entry(call).or_default());
        self.counted(&all);
        Some(changed)
    }

    /// All of them, if there are any.
    fn some(&self) -> Option<MutexGuard<'_, BTreeMap<u64, Timeline>>> {
        let calls = self.0.as_ref()?;
        (calls.count.load(Ordering::Acquire) > 0).then(|| calls.all())
    }

    fn counted(&self, all: &BTreeMap<u64, Timeline>) {
        if let Some(calls) = &self.0 {
            calls.count.store(all.len(), Ordering::Release);
        }
    }
}

impl Calls {
    fn all(&self) -> MutexGuard<'_, BTreeMap<u64, Timeline>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenQuestion<'_> {
    /// Adds the answer, unless the call has ended.
    pub fn answered(self, word: String) {
        let Some(mut all) = self.timelines.some() else { return };
        if let Some(timeline) = all.get_mut(&self.call) {
            timeline.answered(self.place, word);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_found_by_the_number_of_their_call_and_are_gone_with_it() {
        let timelines = Timelines::default();
        assert_eq!((timelines.of(1), timelines.take(1)), (None, None));
        timelines.add_said(1, "info", "one");
        timelines.add_said(2, "info", "two");
        let question = timelines.ask(2, "roots/list", None);
        assert!(timelines.of(1).is_some());
        assert_eq!(timelines.take(1).map(|steps| steps.steps().len()), Some(1));
        assert_eq!(timelines.take(1), None);
        question.unwrap().answered("answered".to_owned());
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
        timelines.add_said(1, "info", "another call");
        let question = timelines.ask(7, "roots/list", None).unwrap();
        timelines.take(7);
        question.answered("late".to_owned());
        assert_eq!(timelines.of(7), None);
    }

    #[test]
    fn the_oldest_give_way_where_there_are_too_many() {
        let timelines = Timelines::default();
        for call in 0..=MOST_CALLS as u64 {
            timelines.add_said(call, "info", "");
        }
        assert!(timelines.of(0).is_none());
        assert!(timelines.of(1).is_some() && timelines.of(MOST_CALLS as u64).is_some());
    }

    #[test]
    fn nothing_is_held_where_calls_are_not_recorded() {
        let timelines = Timelines::off();
        timelines.add_said(1, "info", "");
        assert!(timelines.of(1).is_none() && timelines.ask(1, "roots/list", None).is_none());
    }
}
