//! The retry policy: decides after a failure whether to wait, retry or give up.

use std::hash::{BuildHasher as _, RandomState};
use std::time::Duration;

use switchboard_prompting::ModelError;

use super::failure::{AttemptFailure, Remedy};
use crate::protocol::RequestForm;

// A cut or unreadable answer is retried less often, because each retry costs its tokens again.
const MAX_BUSY_RETRIES: u32 = 3;
const MAX_CUT_RETRIES: u32 = 2;
const MAX_UNREADABLE_RETRIES: u32 = 1;
const MAX_UNREACHABLE_RETRIES: u32 = 1;

/// Time limits and delays of the requests to a vendor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// How long a vendor may take to start an answer.
    pub beginning: Duration,
    /// How long an answer may pause between two events.
    pub silence: Duration,
    /// The initial back-off for a busy vendor, doubled on every retry.
    pub back_off: Duration,
    pub longest_wait: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            beginning: Duration::from_secs(120),
            silence: Duration::from_secs(120),
            back_off: Duration::from_secs(1),
            longest_wait: Duration::from_secs(60),
        }
    }
}

impl RetryPolicy {
    /// Returns the limits for a server on the user's own machine.
    #[must_use]
    pub fn local() -> Self {
        // The server may have to load the model from disk first.
        Self { beginning: Duration::from_secs(600), ..Self::default() }
    }
}

pub(super) struct RetryPlan<'a> {
    patience: &'a RetryPolicy,
    form: RequestForm,
    busy: u32,
    cut: u32,
    unreadable: u32,
    unreachable: u32,
}

/// The decision after a failure: a retry, or an error if none is left or can help.
#[derive(Debug, PartialEq)]
pub(super) enum NextAttempt {
    Ask { wait: Option<Duration> },
    GiveUp(ModelError),
}

impl<'a> RetryPlan<'a> {
    pub(super) fn new(patience: &'a RetryPolicy, form: RequestForm) -> Self {
        Self { patience, form, busy: 0, cut: 0, unreadable: 0, unreachable: 0 }
    }

    pub(super) fn form(&self) -> RequestForm {
        self.form
    }

    /// Decides how to continue after a failure.
    pub(super) fn after(&mut self, failure: AttemptFailure) -> NextAttempt {
        let at_once = NextAttempt::Ask { wait: None };
        match failure.remedy {
            Remedy::Wait(asked) if self.busy < MAX_BUSY_RETRIES && self.can_wait(asked) => {
                let wait = asked.unwrap_or_else(|| self.back_off());
                self.busy += 1;
                NextAttempt::Ask { wait: Some(wait.min(self.patience.longest_wait)) }
            }
            Remedy::Reconnect if self.unreachable < MAX_UNREACHABLE_RETRIES => {
                self.unreachable += 1;
                NextAttempt::Ask { wait: Some(self.patience.back_off) }
            }
            Remedy::AskAgain if self.cut < MAX_CUT_RETRIES => {
                self.cut += 1;
                at_once
            }
            Remedy::ReadAgain if self.unreadable < MAX_UNREADABLE_RETRIES => {
                self.unreadable += 1;
                at_once
            }
            Remedy::AskLess if self.form == RequestForm::Full => {
                self.form = RequestForm::Plain;
                at_once
            }
            Remedy::Wait(_)
            | Remedy::Reconnect
            | Remedy::AskAgain
            | Remedy::ReadAgain
            | Remedy::AskLess
            | Remedy::Nothing => NextAttempt::GiveUp(failure.error),
        }
    }

    /// Returns whether the delay that the vendor requested fits into the remaining retries.
    fn can_wait(&self, asked: Option<Duration>) -> bool {
        // Each wait is capped, so a longer request can be served by several retries, or not at all.
        let reach = self.patience.longest_wait * (MAX_BUSY_RETRIES - self.busy);
        asked.is_none_or(|asked| asked <= reach)
    }

    /// Returns an exponential back-off.
    fn back_off(&self) -> Duration {
        let wait = self.patience.back_off * 2_u32.pow(self.busy);
        // Up to 25 % of jitter, so that clients do not all retry at once.
        let quarter = wait.as_millis() as u64 / 4;
        let chance = RandomState::new().hash_one(self.busy);
        wait + Duration::from_millis(chance.checked_rem(quarter + 1).unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use switchboard_prompting::ModelErrorKind;

    use super::*;

    fn failure(remedy: Remedy) -> AttemptFailure {
        AttemptFailure { error: ModelError::new(ModelErrorKind::Busy, "no"), remedy }
    }

    /// Returns the delays until the plan gives up; `None` means an immediate retry.
    fn waits(remedies: &[Remedy]) -> Vec<Option<Duration>> {
        let patience = RetryPolicy::default();
        let mut plan = RetryPlan::new(&patience, RequestForm::Full);
        let mut waits = Vec::new();
        for remedy in remedies.iter().cycle().take(20) {
            match plan.after(failure(*remedy)) {
                NextAttempt::Ask { wait } => waits.push(wait),
                NextAttempt::GiveUp(_) => break,
            }
        }
        waits
    }

    #[test]
    fn a_busy_vendor_is_asked_four_times_with_growing_waits() {
        let waits = waits(&[Remedy::Wait(None)]);
        assert_eq!(waits.len(), 3);
        for (wait, least) in waits.iter().zip([1_000, 2_000, 4_000]) {
            let wait = wait.unwrap().as_millis();
            assert!((least..=least + least / 4).contains(&wait), "{wait}");
        }
    }

    #[test]
    fn a_vendor_may_choose_the_wait_within_reason() {
        let seconds = |seconds| Some(Duration::from_secs(seconds));
        for (asked, expected) in [
            (7, vec![seconds(7); 3]),
            (90, vec![seconds(60); 2]),
            (180, vec![seconds(60)]),
            (181, vec![]),
        ] {
            assert_eq!(waits(&[Remedy::Wait(seconds(asked))]), expected, "{asked}");
        }
    }

    #[test]
    fn other_failures_have_few_tries_each_and_do_not_use_up_each_others() {
        let second = Some(Duration::from_secs(1));
        for (remedies, expected) in [
            (&[Remedy::Nothing][..], vec![]),
            (&[Remedy::AskAgain], vec![None, None]),
            (&[Remedy::ReadAgain], vec![None]),
            (&[Remedy::Reconnect], vec![second]),
            (&[Remedy::AskLess], vec![None]),
            (&[Remedy::Reconnect, Remedy::AskAgain], vec![second, None]),
        ] {
            assert_eq!(waits(remedies), expected, "{remedies:?}");
        }
    }
}
