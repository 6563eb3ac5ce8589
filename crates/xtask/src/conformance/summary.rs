//! Counts of passed and failed scenarios, from the output of the official suite.

/// The summary that the suite prints after its last scenario.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct SuiteSummary {
    passed: usize,
    failed: usize,
    /// Failed, and listed in the baseline.
    expected: Vec<String>,
    /// Passed, although listed in the baseline.
    stale: Vec<String>,
    unexpected: Vec<String>,
    /// Counted as passed by the suite although nothing was checked.
    empty: Vec<String>,
}

impl SuiteSummary {
    pub(super) fn read(printed: &str) -> Self {
        let mut summary = Self::default();
        let mut heading = "";
        for line in printed.lines().skip_while(|line| !line.contains("SUMMARY ===")) {
            let (mark, name) = line.trim().split_once(' ').unwrap_or_default();
            if !matches!(mark, "✓" | "✗" | "~") {
                heading = line;
            } else if let Some((scenario, counts)) = name.split_once(": ") {
                if counts.starts_with("0 passed, 0 failed") {
                    summary.empty.push(scenario.to_owned());
                } else if mark == "✓" {
                    summary.passed += 1;
                } else {
                    summary.failed += 1;
                }
            } else if heading.contains("Expected failures") {
                summary.expected.push(name.to_owned());
            } else if heading.contains("Stale baseline entries") {
                summary.stale.push(name.to_owned());
            } else if heading.contains("Unexpected failures") {
                summary.unexpected.push(name.to_owned());
            }
        }
        summary
    }

    /// Accepts that these scenarios check nothing.
    pub(super) fn excuse(&mut self, scenarios: &[&str]) {
        self.empty.retain(|empty| !scenarios.contains(&empty.as_str()));
    }

    /// Returns the counts as a sentence. The suite scores only what the revision requires; other
    /// failures are in neither list.
    pub(super) fn sentence(&self) -> String {
        let judged = self.expected.len() + self.unexpected.len();
        format!(
            "{} scenarios passed, {} failed as expected, {} failed unexpectedly, {} failed unscored",
            self.passed,
            self.expected.len(),
            self.unexpected.len(),
            self.failed.saturating_sub(judged)
        )
    }

    pub(super) fn complaints(&self) -> Vec<String> {
        let kinds = [
            ("failed", &self.unexpected),
            ("passed, so the baseline must not list it", &self.stale),
            ("checked nothing", &self.empty),
        ];
        kinds
            .into_iter()
            .flat_map(|(what, names)| names.iter().map(move |name| format!("{name}: {what}")))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::SuiteSummary;

    const PRINTED: &str = "\
Results saved to out/initialize
=== SUITE SUMMARY ===

✓ initialize: 0 passed, 0 failed
✓ tools_call: 3 passed, 0 failed
✗ sse-retry: 1 passed, 2 failed
✗ auth/metadata-default: 0 passed, 7 failed
✓ auth/pre-registration: 4 passed, 0 failed
✗ auth/dpop: 0 passed, 3 failed

Total: 8 passed, 12 failed, 0 warnings

\u{1b}[33mExpected failures (in baseline):\u{1b}[0m
  ~ auth/metadata-default

\u{1b}[31mStale baseline entries (now passing - remove from baseline):\u{1b}[0m
  ✓ auth/pre-registration

\u{1b}[31mUnexpected failures (not in baseline):\u{1b}[0m
  ✗ sse-retry

\u{1b}[31mUnexpected failures detected: these are not in your expected-failures baseline.\u{1b}[0m
";

    #[test]
    fn every_scenario_is_counted_under_its_heading() {
        let summary = SuiteSummary::read(PRINTED);

        assert_eq!(
            summary.sentence(),
            "2 scenarios passed, 1 failed as expected, 1 failed unexpectedly, 1 failed unscored"
        );
        assert_eq!(
            summary.complaints(),
            [
                "sse-retry: failed",
                "auth/pre-registration: passed, so the baseline must not list it",
                "initialize: checked nothing",
            ]
        );
        let mut summary = summary;
        summary.excuse(&["initialize"]);
        assert_eq!(summary.complaints().len(), 2);
    }

    #[test]
    fn the_summary_of_server_scenarios_is_read_too() {
        let printed = "=== SUMMARY ===\n✓ ping: 2 passed, 0 failed\n✗ caching: 1 passed, 7 failed";
        let summary = SuiteSummary { passed: 1, failed: 1, ..SuiteSummary::default() };
        assert_eq!(SuiteSummary::read(printed), summary);
    }

    #[test]
    fn output_without_a_summary_counts_nothing() {
        assert_eq!(SuiteSummary::read("✗ crashed: 1 passed, 0 failed"), SuiteSummary::default());
    }
}
