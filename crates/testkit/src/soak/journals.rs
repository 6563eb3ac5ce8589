//! The journals of the servers: their starts, and every call before it was answered.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use fastrand::Rng;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::check::ServerArrival;
use super::plan::SoakPlan;

#[derive(Clone, Debug)]
pub(super) struct Journals(PathBuf);

impl Journals {
    pub(super) fn in_folder(folder: &Path) -> Self {
        Self(folder.to_owned())
    }

    pub(super) fn path(&self, server: usize) -> PathBuf {
        self.0.join(format!("{}.journal", SoakPlan::server(server)))
    }

    /// Returns the current process id of a server, and the number of its starts.
    pub(super) fn starts(&self, server: usize) -> (Option<u32>, usize) {
        let starts: Vec<Value> =
            self.lines(server).into_iter().filter(|line| line["event"] == "start").collect();
        let process = starts.last().and_then(|line| line["pid"].as_u64());
        (process.and_then(|process| u32::try_from(process).ok()), starts.len())
    }

    /// Returns the arrivals of each call at servers, by call id.
    pub(super) fn arrivals(&self, servers: usize) -> HashMap<String, Vec<ServerArrival>> {
        let mut arrivals: HashMap<String, Vec<ServerArrival>> = HashMap::new();
        for server in 0..servers {
            for line in self.lines(server) {
                if let Some(id) = line["id"].as_str() {
                    let tool = line["tool"].as_str().unwrap_or_default().into();
                    arrivals.entry(id.to_owned()).or_default().push(ServerArrival { server, tool });
                }
            }
        }
        arrivals
    }

    /// Counts truncated lines: each kill may leave one. Lines about cancellations are not JSON and
    /// are not counted.
    pub(super) fn unfinished_lines(&self, servers: usize) -> usize {
        let unread =
            |line: &&str| line.starts_with('{') && serde_json::from_str::<Value>(line).is_err();
        (0..servers).map(|server| self.text(server).lines().filter(unread).count()).sum()
    }

    /// Returns the complete lines. A call on a truncated line was never answered.
    fn lines(&self, server: usize) -> Vec<Value> {
        let text = self.text(server);
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    fn text(&self, server: usize) -> String {
        let bytes = std::fs::read(self.path(server)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// A kill of a server, with its time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kill {
    pub(super) server: usize,
    pub(super) at: Instant,
}

/// Kills the planned number of servers at even intervals; returns the kills that found one.
pub(super) async fn kill(plan: &SoakPlan, journals: &Journals) -> Vec<Kill> {
    let mut random = Rng::with_seed(plan.seed);
    let pause = plan.length / u32::try_from(plan.kills + 1).unwrap_or(u32::MAX);
    let mut killed = Vec::new();
    for _ in 0..plan.kills {
        tokio::time::sleep(pause).await;
        let first = random.usize(..plan.servers);
        // A server that was just killed may not be back yet; then the next one is killed.
        let candidates = (0..plan.servers).map(|more| (first + more) % plan.servers);
        for server in candidates {
            if end(journals, server) {
                killed.push(Kill { server, at: Instant::now() });
                break;
            }
        }
    }
    killed
}

fn end(journals: &Journals, server: usize) -> bool {
    let (Some(process), _) = journals.starts(server) else { return false };
    // The process id may have been reused by another program.
    let words = std::fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    let journal = journals.path(server);
    let is_ours = String::from_utf8_lossy(&words).contains(&*journal.to_string_lossy());
    let process = i32::try_from(process).ok().and_then(Pid::from_raw);
    is_ours && process.is_some_and(|process| kill_process(process, Signal::KILL).is_ok())
}
