//! Inspection of processes through the operating system, and signals to those that a test names.

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::stage::eventually;

/// Maximum lifetime of any process after the end of its server or host.
pub(crate) const GONE: Duration = Duration::from_secs(5);

/// Returns whether a process runs; a zombie does not.
pub(crate) fn is_alive(pid: u32) -> bool {
    matches!(state(pid), Some((state, _)) if state != 'Z' && state != 'X')
}

/// Kills a process that the test started, at once.
pub(crate) fn kill(pid: u32) {
    let pid = Pid::from_raw(pid.cast_signed()).unwrap();
    // `kill_process` fails only if the process has already exited.
    kill_process(pid, Signal::KILL).ok();
}

/// Waits until none of the processes runs.
pub(crate) async fn gone(pids: &[u32], limit: Duration) {
    let alive = || pids.iter().copied().filter(|pid| is_alive(*pid)).collect::<Vec<_>>();
    let what = format!("the processes {pids:?} are gone");
    eventually(&what, limit, async || alive().is_empty()).await;
}

/// Returns the number of zombie children of a process.
pub(crate) fn zombies_of(parent: u32) -> usize {
    let folder = std::fs::read_dir("/proc").unwrap();
    let pids = folder.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    pids.filter(|pid| state(*pid) == Some(('Z', parent))).count()
}

/// Returns the number of files that a process has open.
pub(crate) fn files_of(pid: u32) -> usize {
    std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count()
}

/// Returns the state of a process, and its parent.
fn state(pid: u32) -> Option<(char, u32)> {
    let line = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may contain anything; the fields after the last one are plain.
    let mut fields = line.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?.chars().next()?;
    Some((state, fields.next()?.parse().ok()?))
}
