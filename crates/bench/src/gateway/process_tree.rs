//! Processor time and memory of a gateway and its children, without the servers behind it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The root of a gateway's processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProcessRoot {
    /// This process and its descendants.
    Process(u32),
    /// The descendants of this process, the load client that started the gateway.
    Below(u32),
}

/// The processes of a gateway at one moment.
#[derive(Clone, Debug)]
pub(super) struct ProcessTree(Vec<u32>);

impl ProcessTree {
    /// Lists the current processes of the gateway. Without `/proc`, descendants are missing.
    pub(super) fn snapshot(root: ProcessRoot) -> Self {
        let (first, mut members) = match root {
            ProcessRoot::Process(process) => (process, vec![process]),
            ProcessRoot::Below(process) => (process, Vec::new()),
        };
        let children = children();
        let mut open = vec![first];
        let mut seen = BTreeSet::new();
        while let Some(parent) = open.pop() {
            for child in children.get(&parent).into_iter().flatten() {
                if seen.insert(*child) && !is_upstream(*child) {
                    members.push(*child);
                    open.push(*child);
                }
            }
        }
        Self(members)
    }

    /// Returns the processor time of these processes so far.
    pub(super) fn processor_time(&self) -> Duration {
        self.0.iter().map(|process| processor_time(*process)).sum()
    }

    /// Returns the resident memory in MB. Pages of a program are shared, so only the first process
    /// of each program counts in full; others count with their anonymous memory.
    pub(super) fn resident_mb(&self) -> f64 {
        let mut programs = BTreeSet::new();
        let mut bytes = 0;
        for process in &self.0 {
            let Ok(status) = fs::read_to_string(proc_path(*process).join("status")) else {
                continue;
            };
            let program = fs::read_link(proc_path(*process).join("exe")).unwrap_or_default();
            let part = if programs.insert(program) { "VmRSS:" } else { "RssAnon:" };
            bytes += crate::meter::bytes_in(&status, part).unwrap_or(0);
        }
        if bytes == 0 { f64::NAN } else { bytes as f64 / 1e6 }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn proc_path(process: u32) -> PathBuf {
    Path::new("/proc").join(process.to_string())
}

fn children() -> BTreeMap<u32, Vec<u32>> {
    let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(process) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        let stat = fs::read_to_string(proc_path(process).join("stat")).unwrap_or_default();
        if let Some(parent) = parent_in(&stat) {
            children.entry(parent).or_default().push(process);
        }
    }
    children
}

/// Returns the parent process. The process name may contain spaces and brackets, so fields are
/// counted after its last bracket.
fn parent_in(stat: &str) -> Option<u32> {
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

/// Whether a process is the server behind the gateway: this program with the command `raw-server`.
fn is_upstream(process: u32) -> bool {
    let is_ours =
        fs::read_link(proc_path(process).join("exe")).ok() == std::env::current_exe().ok();
    let words = fs::read(proc_path(process).join("cmdline")).unwrap_or_default();
    is_ours && words.split(|byte| *byte == 0).nth(1) == Some(b"raw-server")
}

/// Sums the times of the threads, which `/proc` has in nanoseconds. That of the process has a
/// resolution of only a hundredth of a second.
fn processor_time(process: u32) -> Duration {
    let mut nanoseconds = 0;
    for thread in fs::read_dir(proc_path(process).join("task")).into_iter().flatten().flatten() {
        let text = fs::read_to_string(thread.path().join("schedstat")).unwrap_or_default();
        nanoseconds += text.split(' ').next().and_then(|first| first.parse().ok()).unwrap_or(0);
    }
    Duration::from_nanos(nanoseconds)
}

#[cfg(test)]
mod tests {
    use super::parent_in;

    #[cfg(target_os = "linux")]
    #[test]
    fn a_child_belongs_to_the_tree_of_its_parent() {
        use super::{ProcessRoot, ProcessTree};

        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let below = ProcessTree::snapshot(ProcessRoot::Below(std::process::id()));
        let whole = ProcessTree::snapshot(ProcessRoot::Process(std::process::id()));
        let memory = ProcessTree::snapshot(ProcessRoot::Process(child.id())).resident_mb();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(below.0.contains(&child.id()) && !below.0.contains(&std::process::id()));
        assert!(whole.0.contains(&child.id()) && whole.0.contains(&std::process::id()));
        assert!(memory > 0.0 && !whole.processor_time().is_zero());
    }

    #[test]
    fn the_parent_stands_after_the_name_whatever_the_name_is() {
        assert_eq!(parent_in("12 (a) b) S 7 1 1 0"), Some(7));
        assert_eq!(parent_in(""), None);
    }
}
