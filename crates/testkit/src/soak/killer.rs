//! Ends servers at random, by the process that each of them wrote into its journal.

use std::time::Instant;

use rustix::process::{Pid, Signal, kill_process};

use super::journals::Journals;
use super::plan::SoakPlan;
use super::random::Random;

/// A server that was killed, and when.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kill {
    pub(super) server: usize,
    pub(super) at: Instant,
}

/// Kills as many servers as planned, evenly over the time, and says which it found.
pub(super) async fn kill(plan: &SoakPlan, journals: &Journals) -> Vec<Kill> {
    let mut random = Random::new(plan.seed, 0);
    let pause = plan.length / u32::try_from(plan.kills + 1).unwrap_or(u32::MAX);
    let mut killed = Vec::new();
    for _ in 0..plan.kills {
        tokio::time::sleep(pause).await;
        let first = random.below(plan.servers);
        // Whoever was just killed may not be back yet; then it is the turn of another one.
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
    // The number may belong to somebody else by now.
    let words = std::fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    let journal = journals.path(server);
    let is_ours = String::from_utf8_lossy(&words).contains(&*journal.to_string_lossy());
    let process = i32::try_from(process).ok().and_then(Pid::from_raw);
    is_ours && process.is_some_and(|process| kill_process(process, Signal::KILL).is_ok())
}
