//! Faults of a process that starts, and of one that does not want to end.

use std::process::{Command, Stdio};
use std::sync::Arc;

use super::FaultFamily;
use crate::server::FixtureServer;
use crate::system;

#[expect(clippy::exit, clippy::print_stderr, reason = "ending early with a word is the fault")]
pub(crate) async fn at_start(server: &Arc<FixtureServer>) {
    let Some(fault) = server.fault() else { return };
    if fault.family != FaultFamily::Start || !fault.claim() {
        return;
    }
    match fault.name {
        "exit-at-start" => {
            eprintln!("boom");
            std::process::exit(fault.code);
        }
        "abort-at-start" => {
            eprintln!("boom");
            std::process::abort();
        }
        "slow-start" => tokio::time::sleep(fault.pause(25_000)).await,
        "ignore-term" => system::ignore_requests_to_end(),
        "grandchild" => grandchild(server, system::worker()),
        "grandchild-setsid" => grandchild(server, system::leaving_worker()),
        other => panic!("the fault `{other}` does nothing at the start"),
    }
}

/// Starts a process that keeps standard output and error open, as forgotten workers do.
fn grandchild(server: &Arc<FixtureServer>, mut worker: Command) {
    let started = worker.stdin(Stdio::null()).spawn();
    let mut child = started.unwrap_or_else(|cause| panic!("{worker:?}: {cause}"));
    server.journal.line(&format!("grandchild {}", child.id()));
    std::thread::spawn(move || child.wait());
}

pub(crate) fn ignores_end_of_input(server: &FixtureServer) -> bool {
    server.fault().is_some_and(|fault| fault.name == "ignore-term")
}
