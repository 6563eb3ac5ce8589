//! Memory usage of a server: its process and all descendants.

/// Returns the resident memory of all descendants of `head`, in bytes. `head` itself is the keeper
/// and does not count. Returns `None` if the system does not report it.
#[must_use]
pub fn memory_below(head: u32) -> Option<u64> {
    let all = processes()?;
    let mut family = vec![head];
    let mut bytes = 0;
    // Each process has exactly one parent, so the loop visits each at most once.
    while let Some(parent) = family.pop() {
        for process in all.iter().filter(|process| process.parent == parent) {
            bytes += process.bytes;
            family.push(process.id);
        }
    }
    (bytes > 0).then_some(bytes)
}

/// Returns whether a process descends from this one, or cannot be inspected.
#[must_use]
pub fn is_descendant(id: u32) -> bool {
    const MAX_DEPTH: usize = 256;
    // The kernel reports peers in another pid namespace as 0; ours are in this one.
    if cfg!(not(target_os = "linux")) || id == 0 {
        return false;
    }
    let mut current = id;
    for _ in 0..MAX_DEPTH {
        match parent_id(current) {
            Some(0) => return false,
            Some(parent) if parent == std::process::id() => return true,
            Some(parent) => current = parent,
            // Callers reject descendants, so an unreadable process must not pass as a stranger.
            None => return true,
        }
    }
    true
}

fn parent_id(id: u32) -> Option<u32> {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()
}

struct ProcessMemory {
    id: u32,
    parent: u32,
    bytes: u64,
}

#[cfg(target_os = "linux")]
fn processes() -> Option<Vec<ProcessMemory>> {
    let folders = std::fs::read_dir("/proc").ok()?.flatten();
    let numbers = folders.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let read = |id: u32| {
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).ok()?;
        parse_status(id, &status)
    };
    Some(numbers.filter_map(read).collect())
}

#[cfg(not(target_os = "linux"))]
fn processes() -> Option<Vec<ProcessMemory>> {
    None
}

/// Parses `/proc/PID/status`. Kernel threads have no `VmRSS`.
#[cfg(target_os = "linux")]
fn parse_status(id: u32, status: &str) -> Option<ProcessMemory> {
    let said = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse::<u64>().ok()
    };
    let parent = u32::try_from(said("PPid:")?).ok()?;
    let kilobytes = said("VmRSS:").unwrap_or(0);
    Some(ProcessMemory { id, parent, bytes: kilobytes.saturating_mul(1_024) })
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn memory_of_what_runs_below_us_is_counted() {
        let mut command = Command::new("cat");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        // The child has executed `cat` once it echoes.
        child.stdin.as_mut().unwrap().write_all(b"x").unwrap();
        child.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
        let bytes = memory_below(std::process::id());
        drop(child.stdin.take());
        child.wait().unwrap();
        assert!(bytes.is_some_and(|bytes| bytes > 4_096), "{bytes:?}");
        assert_eq!(memory_below(u32::MAX), None);
    }

    #[test]
    fn a_process_says_whose_child_it_is_and_what_it_takes() {
        let taking = parse_status(7, "Name:\tx y\nPPid:\t3\nVmRSS:\t  25 kB\n").unwrap();
        assert_eq!((taking.id, taking.parent, taking.bytes), (7, 3, 25_600));
    }
}
