//! Building blocks of measurements: processor time, memory, medians and child processes.

use std::process::Stdio;
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;
use tokio::process::Command;

use crate::error::Result;

/// Returns the processor time of all threads of this process, with nanosecond resolution.
#[cfg(unix)]
pub(crate) fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or_default())
}

/// Returns zero: this platform has no such clock, so the columns of processor time mean nothing.
#[cfg(not(unix))]
pub(crate) fn processor_time() -> Duration {
    Duration::ZERO
}

/// Runs `work` and returns the processor seconds that it took, with its result. On platforms
/// without such a clock, returns the elapsed seconds.
pub(crate) fn spent<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let started = Instant::now();
    let before = processor_time();
    let done = work();
    let used = processor_time().saturating_sub(before);
    let took = if used.is_zero() { started.elapsed() } else { used };
    (took.as_secs_f64(), done)
}

/// Returns the resident memory of this process in bytes, if `/proc` reports it.
pub(crate) fn resident_bytes() -> Option<u64> {
    bytes_in(&std::fs::read_to_string("/proc/self/status").ok()?, "VmRSS:")
}

/// Returns one memory value from the `/proc/PID/status` text of a process, in bytes.
pub(crate) fn bytes_in(status: &str, part: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(part))?;
    let kilobytes: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kilobytes * 1_024)
}

pub(crate) fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    let middle = values.len() / 2;
    let upper = values.get(middle).copied().unwrap_or(f64::NAN);
    if values.len().is_multiple_of(2) && middle > 0 {
        let lower = values.get(middle - 1).copied().unwrap_or(f64::NAN);
        return f64::midpoint(lower, upper);
    }
    upper
}

/// Returns the median of one metric over all passes.
pub(crate) fn median_of<T>(passes: &[T], number: fn(&T) -> f64) -> f64 {
    median(passes.iter().map(number))
}

/// Returns the median of the ratios within each pass, in which both sides meet the same conditions.
pub(crate) fn median_ratio<T>(passes: &[T], to: &[T], number: fn(&T) -> f64) -> f64 {
    median(passes.iter().zip(to).map(|(left, right)| number(left) / number(right)))
}

/// Returns the median of the differences within each pass.
pub(crate) fn median_difference<T>(passes: &[T], to: &[T], number: fn(&T) -> f64) -> f64 {
    median(passes.iter().zip(to).map(|(left, right)| number(left) - number(right)))
}

/// Maximum duration of a measurement, even on a busy machine.
const MEASURE_TIMEOUT: Duration = Duration::from_secs(120);

/// Runs a measurement in a child process and parses the JSON that it prints. Kills the process at
/// the timeout.
pub(crate) async fn measure_in_child<T: DeserializeOwned>(what: &str) -> Result<T> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["measure", what]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).kill_on_drop(true);
    let running = tokio::time::timeout(MEASURE_TIMEOUT, command.spawn()?.wait_with_output()).await;
    let output =
        running.map_err(|_| format!("`{what}` took longer than {MEASURE_TIMEOUT:?}"))??;
    if !output.status.success() {
        return Err(format!("`{what}` ended with {}", output.status).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Runs the measurement once per pass, each time in a new process.
pub(crate) async fn measure_passes<T: DeserializeOwned>(
    what: &str,
    passes: usize,
) -> Result<Vec<T>> {
    let mut found = Vec::new();
    for _ in 0..passes {
        found.push(measure_in_child(what).await?);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::{bytes_in, median, median_difference, median_ratio};

    #[test]
    fn resident_memory_is_read_from_the_status_text() {
        assert_eq!(bytes_in("VmPeak:\t  99 kB\nVmRSS:\t   12 kB\n", "VmRSS:"), Some(12 * 1_024));
        assert_eq!(bytes_in("VmPeak:\t  99 kB\n", "VmRSS:"), None);
    }

    #[test]
    fn the_middle_of_an_even_number_is_between_the_two() {
        assert_eq!([1, 2, 3, 4].map(|n| median((1..=n).map(f64::from))), [1.0, 1.5, 2.0, 2.5]);
    }

    #[test]
    fn ratios_are_taken_within_a_pass() {
        let ours = [2.0, 40.0, 9.0];
        let floor = [1.0, 20.0, 3.0];
        assert_eq!(median_ratio(&ours, &floor, |pass| *pass), 2.0);
        assert_eq!(median_difference(&ours, &floor, |pass| *pass), 6.0);
    }
}
