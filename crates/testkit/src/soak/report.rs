//! The result of a soak as text, and the measurement of memory.

use std::fmt;
use std::time::Duration;

/// The result of a soak.
#[derive(Clone, Debug, Default)]
pub struct SoakReport {
    pub rows: Vec<(String, String)>,
    /// The first faults; `fault_count` counts all of them.
    pub faults: Vec<String>,
    pub fault_count: usize,
}

impl SoakReport {
    /// Whether there were no faults.
    pub const fn has_passed(&self) -> bool {
        self.fault_count == 0
    }
}

impl fmt::Display for SoakReport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.rows.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
        for (name, value) in &self.rows {
            writeln!(formatter, "{name:width$}  {value}")?;
        }
        for fault in &self.faults {
            writeln!(formatter, "fault: {fault}")?;
        }
        let verdict = if self.has_passed() { "PASS" } else { "FAIL" };
        write!(formatter, "{verdict}, {} faults", self.fault_count)
    }
}

/// Growth in bytes that is always tolerated, for the memory of calls in flight.
const SLACK: u64 = 16_000_000;

/// Resident memory in bytes, sampled at a fixed interval.
#[derive(Clone, Debug, Default)]
pub(super) struct MemorySamples(pub(super) Vec<u64>);

/// Memory at the start, in the middle and at the end. Medians, because single samples are noisy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MemoryCourse {
    pub(super) start: u64,
    pub(super) middle: u64,
    pub(super) end: u64,
}

impl MemorySamples {
    /// Samples the memory of a process until the future is dropped.
    pub(super) async fn watch(&mut self, process: u32, every: Duration) {
        loop {
            tokio::time::sleep(every).await;
            let status = std::fs::read_to_string(format!("/proc/{process}/status"));
            self.0.extend(status.ok().and_then(|status| resident(&status)));
        }
    }

    /// Returns the course after the first quarter, which is warm-up; `None` with too few samples.
    pub(super) fn course(&self) -> Option<MemoryCourse> {
        let part = |from: usize, to: usize| {
            let length = self.0.len();
            let mut part = self.0.get(length * from / 100..length * to / 100)?.to_vec();
            part.sort_unstable();
            part.get(part.len() / 2).copied()
        };
        Some(MemoryCourse { start: part(25, 45)?, middle: part(50, 70)?, end: part(80, 100)? })
    }
}

impl MemoryCourse {
    /// Whether memory grew by no more than this fraction, plus `SLACK`.
    pub(super) fn is_flat(self, growth: f64) -> bool {
        #[expect(clippy::cast_precision_loss, reason = "a byte more or less does not matter")]
        let start = self.start as f64;
        let end = self.end as f64;
        let slack = SLACK as f64;
        end <= start * (1.0 + growth) + slack
    }
}

fn resident(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kilobytes * 1_024)
}

#[cfg(test)]
mod tests {
    use super::{MemoryCourse, MemorySamples, resident};

    #[test]
    fn a_steady_rise_is_not_flat_and_a_high_start_is() {
        let megabytes =
            |numbers: &[u64]| MemorySamples(numbers.iter().map(|n| n * 1_000_000).collect());
        let rising: Vec<u64> = (0..100).map(|n| 40 + n).collect();
        let early: Vec<u64> = (0..100).map(|n| if n < 20 { 40 + n * 2 } else { 80 }).collect();
        let course = megabytes(&rising).course().unwrap();
        let expected = MemoryCourse { start: 75_000_000, middle: 100_000_000, end: 130_000_000 };
        assert_eq!((course, course.is_flat(0.2)), (expected, false));
        assert!(megabytes(&early).course().unwrap().is_flat(0.2));
        assert_eq!(MemorySamples::default().course(), None);
    }

    #[test]
    fn resident_memory_is_read_from_the_status_text() {
        assert_eq!(resident("VmPeak:\t  99 kB\nVmRSS:\t   12 kB\n"), Some(12 * 1_024));
        assert_eq!(resident(""), None);
    }
}
