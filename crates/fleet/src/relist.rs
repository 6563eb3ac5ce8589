//! The schedule for listing again: change notifications, failed lists and expired TTLs.

use std::time::{Duration, Instant};

use switchboard_catalog::Offers;
use tokio::time::sleep_until;

use crate::connection::{add_jitter, back_off};
use crate::listing::{KindSet, ListedOffers};

/// How long changes are debounced: after the last one, and at most after the first one. A server
/// that never stops announcing changes is listed every two seconds.
const DEBOUNCE_RANGE: (Duration, Duration) = (Duration::from_millis(300), Duration::from_secs(2));
/// Minimum age of a list that is fetched again, and maximum age if it has not changed for long.
const RELIST_AGE_RANGE: (Duration, Duration) =
    (Duration::from_secs(5), Duration::from_secs(15 * 60));

/// The kinds to list again, and when.
#[derive(Default)]
pub(crate) struct RelistSchedule {
    kinds: KindSet,
    first: Option<Instant>,
    due: Option<Instant>,
    failures: u32,
    ttls: [Option<Duration>; 4],
    refresh_due: Option<Instant>,
    unchanged: u32,
    seed: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RelistResult {
    Unchanged,
    Changed,
}

impl RelistSchedule {
    /// Creates an empty schedule; `seed` varies the jitter between servers.
    pub(crate) fn new(seed: u64) -> Self {
        Self { seed, ..Self::default() }
    }

    /// Schedules `kinds`, debounced with other changes.
    pub(crate) fn mark(&mut self, kinds: KindSet) {
        let now = Instant::now();
        let first = *self.first.get_or_insert(now);
        self.due = Some((now + DEBOUNCE_RANGE.0).min(first + DEBOUNCE_RANGE.1));
        self.add(kinds);
    }

    /// Schedules the next listing; returns whether the offers differ from `before`.
    pub(crate) fn record_listing(
        &mut self,
        listed: &ListedOffers,
        lasts: [Option<Duration>; 4],
        before: Option<&Offers>,
    ) -> RelistResult {
        self.schedule_retry(listed.failed);
        let is_same = before.is_some_and(|before| before.is_identical_to(&listed.offers));
        let found = if is_same { RelistResult::Unchanged } else { RelistResult::Changed };
        self.schedule_refresh(lasts, found);
        found
    }

    /// Schedules failed lists again, with back-off.
    fn schedule_retry(&mut self, failed: KindSet) {
        if !failed.contains(&true) {
            self.failures = 0;
            return;
        }
        self.failures += 1;
        let later = Instant::now() + back_off(self.failures + 2, 0);
        // A change that is already scheduled comes first.
        self.due.get_or_insert(later);
        self.add(failed);
    }

    /// Schedules lists without change notifications for when their TTL expires, with back-off while
    /// they do not change.
    fn schedule_refresh(&mut self, lasts: [Option<Duration>; 4], found: RelistResult) {
        self.unchanged = match found {
            RelistResult::Unchanged => self.unchanged.saturating_add(1),
            RelistResult::Changed => 0,
        };
        for (known, new) in self.ttls.iter_mut().zip(lasts) {
            // Kinds that were not listed this time have no new TTL.
            *known = new.or(*known);
        }
        let shortest = self.ttls.iter().flatten().min();
        self.refresh_due =
            shortest.map(|lasts| Instant::now() + refresh_delay(*lasts, self.unchanged, self.seed));
    }

    fn add(&mut self, kinds: KindSet) {
        for (marked, new) in self.kinds.iter_mut().zip(kinds) {
            *marked |= new;
        }
    }

    /// Takes the kinds to list and clears the schedule.
    pub(crate) fn take(&mut self) -> KindSet {
        if self.refresh_due.is_some_and(|old| old <= Instant::now()) {
            self.add(self.ttls.map(|lasts| lasts.is_some()));
            self.refresh_due = None;
        }
        (self.first, self.due) = (None, None);
        std::mem::take(&mut self.kinds)
    }

    pub(crate) async fn wait_until_due(&self) {
        match self.due.into_iter().chain(self.refresh_due).min() {
            Some(due) => sleep_until(due.into()).await,
            None => std::future::pending().await,
        }
    }
}

/// Returns the delay until a list is fetched again, doubled for each unchanged listing.
fn refresh_delay(lasts: Duration, unchanged: u32, seed: u64) -> Duration {
    let least = lasts.max(RELIST_AGE_RANGE.0);
    let doubled = least.saturating_mul(2_u32.saturating_pow(unchanged.min(16)));
    // Never before the TTL, however long it is.
    add_jitter(doubled.min(RELIST_AGE_RANGE.1.max(least)), seed.wrapping_add(unchanged.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_grew_old_is_listed_less_and_less_often_while_it_stays_as_it_is() {
        let second = Duration::from_secs(1);
        for (lasts, unchanged, least) in [
            (Duration::ZERO, 0, 5 * second),
            (10 * second, 0, 10 * second),
            (10 * second, 1, 20 * second),
            (10 * second, 60, 900 * second),
            (3_600 * second, 3, 3_600 * second),
        ] {
            let waited = refresh_delay(lasts, unchanged, 7);
            assert!(waited >= least && waited <= least.mul_f64(1.11), "{lasts:?} {waited:?}");
        }
        assert_ne!(refresh_delay(second, 0, 1), refresh_delay(second, 0, 2));
    }

    #[test]
    fn only_what_nobody_tells_of_is_listed_for_its_age() {
        let mut changed = RelistSchedule::new(1);
        changed.schedule_refresh([None; 4], RelistResult::Changed);
        assert_eq!(changed.refresh_due, None);
        changed.schedule_refresh(
            [Some(Duration::ZERO), None, None, Some(Duration::ZERO)],
            RelistResult::Changed,
        );
        assert_eq!(changed.take(), [false; 4], "it is not old yet");
        changed.refresh_due = Some(Instant::now());
        assert_eq!(changed.take(), [true, false, false, true]);
        changed.schedule_refresh([None; 4], RelistResult::Unchanged);
        assert!(changed.refresh_due.is_some() && changed.unchanged == 1);
    }
}
