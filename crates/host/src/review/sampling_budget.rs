//! Sampling budgets: rate limits on the requests and tokens of each server.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use switchboard_config::SamplingSettings;

const HOUR: Duration = Duration::from_secs(3_600);
/// How long requests that belong to no known call are counted together as one call.
const UNKNOWN_CALL_WINDOW: Duration = Duration::from_secs(60);

/// The requests of all servers within the last hour.
#[derive(Debug, Default)]
pub(super) struct SamplingBudget {
    spent: Mutex<BTreeMap<String, VecDeque<BudgetEntry>>>,
}

#[derive(Debug)]
struct BudgetEntry {
    number: u64,
    at: Instant,
    call: Option<u64>,
    tokens: usize,
}

/// A request that the budget allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SamplingGrant {
    number: u64,
    /// Maximum number of tokens of the answer.
    pub(super) tokens: usize,
}

impl SamplingBudget {
    /// Grants a request, or returns the limit that it exceeds.
    pub(super) fn grant(
        &self,
        server: &str,
        call: Option<u64>,
        settings: &SamplingSettings,
        now: Instant,
    ) -> Result<SamplingGrant, String> {
        let mut spent = self.spent.lock();
        let entries = spent.entry(server.to_owned()).or_default();
        let within = |at: Instant, span: Duration| now.saturating_duration_since(at) < span;
        while entries.front().is_some_and(|oldest| !within(oldest.at, HOUR)) {
            entries.pop_front();
        }
        let belongs = |entry: &&BudgetEntry| {
            entry.call == call && (call.is_some() || within(entry.at, UNKNOWN_CALL_WINDOW))
        };
        let most = settings.requests_per_call;
        if entries.iter().filter(belongs).count() >= most {
            return Err(format!("rate limit: {most} sampling requests per call"));
        }
        let most = settings.requests_per_hour;
        if entries.len() >= most {
            return Err(format!("rate limit: {most} sampling requests per hour"));
        }
        let used: usize = entries.iter().map(|entry| entry.tokens).sum();
        let left = settings.tokens_per_hour.saturating_sub(used);
        if left == 0 {
            let most = settings.tokens_per_hour;
            return Err(format!("rate limit: {most} sampling tokens per hour"));
        }
        // Counts with the maximum until its cost is known, so that concurrent requests cannot
        // overdraw the budget.
        let tokens = settings.max_tokens.min(left);
        let number = entries.back().map_or(0, |newest| newest.number + 1);
        entries.push_back(BudgetEntry { number, at: now, call, tokens });
        Ok(SamplingGrant { number, tokens })
    }

    /// Records the actual cost of a granted request.
    pub(super) fn record_cost(&self, server: &str, granted: SamplingGrant, tokens: usize) {
        let mut spent = self.spent.lock();
        let entries = spent.get_mut(server).into_iter().flatten();
        for entry in entries.filter(|entry| entry.number == granted.number) {
            entry.tokens = tokens;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> SamplingSettings {
        SamplingSettings {
            requests_per_call: 2,
            requests_per_hour: 4,
            tokens_per_hour: 10_000,
            max_tokens: 100,
            ..SamplingSettings::default()
        }
    }

    #[test]
    fn el_05_a_call_a_server_and_an_hour_have_a_limit_each() {
        let budget = SamplingBudget::default();
        let settings = settings();
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let ask = |server: &str, call, seconds| {
            budget.grant(server, call, &settings, at(seconds)).map(|granted| granted.tokens)
        };
        let for_one_call = || Err("rate limit: 2 sampling requests per call".to_owned());
        let in_an_hour = || Err("rate limit: 4 sampling requests per hour".to_owned());
        assert_eq!(ask("a", Some(1), 0), Ok(100));
        assert_eq!(ask("a", Some(1), 300), Ok(100));
        assert_eq!(ask("a", Some(1), 600), for_one_call());
        assert_eq!(ask("a", None, 700), Ok(100));
        assert_eq!(ask("a", None, 701), Ok(100));
        assert_eq!(ask("a", None, 702), for_one_call());
        assert_eq!(ask("a", None, 800), in_an_hour());
        assert_eq!(ask("a", Some(2), 800), in_an_hour());
        assert_eq!(ask("b", Some(1), 800), Ok(100), "another server has its own");
        assert_eq!(ask("a", Some(2), 3_600), Ok(100), "the first one is an hour old");
    }

    #[test]
    fn what_is_left_of_the_tokens_limits_the_answer() {
        let settings = SamplingSettings { tokens_per_hour: 150, ..settings() };
        let budget = SamplingBudget::default();
        let now = Instant::now();
        let first = budget.grant("a", Some(1), &settings, now).unwrap();
        assert_eq!(first.tokens, 100);
        assert_eq!(budget.grant("a", Some(2), &settings, now).unwrap().tokens, 50);
        let used_up = "rate limit: 150 sampling tokens per hour".to_owned();
        assert_eq!(budget.grant("a", Some(3), &settings, now), Err(used_up));
        budget.record_cost("a", first, 20);
        assert_eq!(budget.grant("a", Some(3), &settings, now).unwrap().tokens, 80);
    }
}
