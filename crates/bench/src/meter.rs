//! What this process has used so far: processor time and memory.

use std::time::{Duration, Instant};

/// The processor time of all threads of this process, to the nanosecond.
#[cfg(unix)]
pub(crate) fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or_default())
}

/// There is no such clock here, so the columns of processor time stay empty.
#[cfg(not(unix))]
pub(crate) fn processor_time() -> Duration {
    Duration::ZERO
}

/// Does the work and gives back the processor seconds it took; where there is no such clock, the
/// seconds that passed.
pub(crate) fn spent<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let started = Instant::now();
    let before = processor_time();
    let done = work();
    let used = processor_time().saturating_sub(before);
    let took = if used.is_zero() { started.elapsed() } else { used };
    (took.as_secs_f64(), done)
}

/// The resident memory of this process in bytes, where the system tells it in a file.
pub(crate) fn resident_bytes() -> Option<u64> {
    bytes_in(&std::fs::read_to_string("/proc/self/status").ok()?, "VmRSS:")
}

/// Finds a part of it in what the system says about a process.
pub(crate) fn bytes_in(status: &str, part: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(part))?;
    let kilobytes: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kilobytes * 1_024)
}

#[cfg(test)]
mod tests {
    use super::bytes_in;

    #[test]
    fn resident_memory_is_read_from_the_status_text() {
        assert_eq!(bytes_in("VmPeak:\t  99 kB\nVmRSS:\t   12 kB\n", "VmRSS:"), Some(12 * 1_024));
        assert_eq!(bytes_in("VmPeak:\t  99 kB\n", "VmRSS:"), None);
    }
}
