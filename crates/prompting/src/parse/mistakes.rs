//! Counters for consecutive mistakes and repeated calls.

use serde_json::Value;

/// Counts consecutive malformed calls.
#[derive(Clone, Debug)]
pub struct MistakeCounter {
    in_a_row: u32,
    limit: u32,
}

/// The consequence of a mistake for the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MistakeAction {
    /// The model may retry; otherwise, a person decides how to continue.
    Continue,
    AskPerson,
}

/// Detects consecutive identical calls.
#[derive(Clone, Debug)]
pub struct RepeatDetector {
    last: Option<(String, Value)>,
    times: u32,
    warn_at: u32,
    stop_at: u32,
}

/// The number of consecutive identical calls, and whether to warn the model or reject the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repetition {
    Fine,
    Warn(u32),
    Stop(u32),
}

impl MistakeCounter {
    /// Creates a counter that asks a person after three consecutive mistakes.
    #[must_use]
    pub const fn new() -> Self {
        Self::with_limit(3)
    }

    /// Creates a counter with this limit, at least one.
    #[must_use]
    pub const fn with_limit(limit: u32) -> Self {
        Self { in_a_row: 0, limit: if limit == 0 { 1 } else { limit } }
    }

    /// Records a malformed call, and returns who continues.
    pub const fn record(&mut self) -> MistakeAction {
        self.in_a_row += 1;
        if self.in_a_row < self.limit {
            return MistakeAction::Continue;
        }
        // After the person's answer, the model gets the full number of attempts again.
        self.in_a_row = 0;
        MistakeAction::AskPerson
    }

    /// Resets the count after a valid call.
    pub const fn reset(&mut self) {
        self.in_a_row = 0;
    }
}

impl Default for MistakeCounter {
    fn default() -> Self {
        Self::new()
    }
}

impl RepeatDetector {
    /// Creates a detector that warns at the third call and stops at the fifth.
    #[must_use]
    pub const fn new() -> Self {
        Self::with_limits(3, 5)
    }

    /// Creates a detector with these thresholds.
    #[must_use]
    pub const fn with_limits(warn_at: u32, stop_at: u32) -> Self {
        Self { last: None, times: 0, warn_at, stop_at }
    }

    /// Records that `target` is about to be called with the JSON text `arguments`.
    pub fn record(&mut self, target: &str, arguments: &str) -> Repetition {
        // Compared as values: other white space or key order does not hide a loop.
        let value =
            serde_json::from_str(arguments).unwrap_or_else(|_| Value::String(arguments.to_owned()));
        let call = (target.to_owned(), value);
        if self.last.as_ref() == Some(&call) {
            self.times = self.times.saturating_add(1);
        } else {
            self.last = Some(call);
            self.times = 1;
        }
        match self.times {
            times if times >= self.stop_at => Repetition::Stop(times),
            times if times >= self.warn_at => Repetition::Warn(times),
            _ => Repetition::Fine,
        }
    }
}

impl Default for RepeatDetector {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::{MistakeAction, MistakeCounter, RepeatDetector, Repetition};

    #[test]
    fn three_mistakes_in_a_row_ask_a_person_and_a_good_call_begins_the_row_again() {
        let mut mistakes = MistakeCounter::new();
        let two = [mistakes.record(), mistakes.record()];
        mistakes.reset();
        let three = [mistakes.record(), mistakes.record(), mistakes.record()];
        assert_eq!(two, [MistakeAction::Continue; 2]);
        assert_eq!(
            three,
            [MistakeAction::Continue, MistakeAction::Continue, MistakeAction::AskPerson]
        );
        assert_eq!(mistakes.record(), MistakeAction::Continue);
    }

    #[test]
    fn the_same_call_warns_the_third_time_and_stops_the_fifth() {
        let mut repeats = RepeatDetector::new();
        let texts = ["{\"a\":1,\"b\":2}", "{ \"b\": 2, \"a\": 1 }", "{\"a\":1,\"b\":2}"];
        let seen: Vec<_> =
            texts.iter().cycle().take(6).map(|text| repeats.record("s/t", text)).collect();
        let expected = [
            Repetition::Fine,
            Repetition::Fine,
            Repetition::Warn(3),
            Repetition::Warn(4),
            Repetition::Stop(5),
            Repetition::Stop(6),
        ];
        assert_eq!(seen, expected);
    }

    #[test]
    fn another_target_or_other_arguments_begin_the_count_again() {
        let mut repeats = RepeatDetector::new();
        for (target, arguments) in [("a", "{}"), ("a", "{}"), ("b", "{}"), ("b", "{}"), ("b", "[]")]
        {
            assert_eq!(repeats.record(target, arguments), Repetition::Fine);
        }
    }
}
