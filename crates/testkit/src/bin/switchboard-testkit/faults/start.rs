//! Faults of a process that starts, and of one that does not want to end.

use std::process::{Command, Stdio};
use std::sync::Arc;

use tokio::signal::unix::{SignalKind, signal};

use super::Family;
use crate::server::Server;

#[expect(clippy::exit, clippy::print_stderr, reason = "ending early with a word is the fault")]
pub(crate) async fn at_start(server: &Arc<Server>) {
    let Some(fault) = server.fault() else { return };
    if fault.family != Family::Start || !fault.claim() {
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
        "ignore-term" => {
            let mut signals = signal(SignalKind::terminate()).expect("signals can be caught");
            tokio::spawn(async move { while signals.recv().await.is_some() {} });
        }
        "grandchild" => grandchild(server, &["sleep", "300"]),
        "grandchild-setsid" => grandchild(server, &["setsid", "sleep", "300"]),
        other => panic!("the fault `{other}` does nothing at the start"),
    }
}

/// Starts a process that keeps standard output and error open, as forgotten workers do.
fn grandchild(server: &Arc<Server>, line: &[&str]) {
    let started = Command::new(line[0]).args(&line[1..]).stdin(Stdio::null()).spawn();
    let mut child = started.unwrap_or_else(|cause| panic!("`{}`: {cause}", line[0]));
    server.journal.line(&format!("grandchild {}", child.id()));
    std::thread::spawn(move || child.wait());
}

pub(crate) fn ignores_end_of_input(server: &Server) -> bool {
    server.fault().is_some_and(|fault| fault.name == "ignore-term")
}
