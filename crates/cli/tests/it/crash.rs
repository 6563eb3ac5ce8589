//! `kill -9` leaves no server behind, and the next run knows which calls may have happened.

use std::time::Duration;

use serde_json::json;

use crate::running::{assert_gone, started_pids, wait_for_text};
use crate::switchboard::{Switchboard, fixture};
use crate::transcript::transcript;

#[test]
fn a_killed_switchboard_leaves_no_process_and_its_call_becomes_unknown() {
    let switchboard = Switchboard::new();
    let journal = switchboard.text_path("journal");
    let trace = switchboard.text_path("trace");
    // The server has a child in its own session, which a group signal does not reach.
    let fault = if cfg!(target_os = "linux") { "grandchild-setsid" } else { "grandchild" };
    let arguments = ["flaky", "--fault", fault, "--journal", &journal, "--trace", &trace];
    switchboard.configure(&json!({"echo": fixture(&arguments), "other": fixture(&["echo"])}));
    let mut calling = switchboard.start(&["call", "echo", "slow", "ms=60000"]);
    wait_for_text(trace.as_ref(), "tools/call");
    let told = wait_for_text(journal.as_ref(), "\n");
    let grandchild = told.lines().next().and_then(|line| line.strip_prefix("grandchild "));
    let mut processes = started_pids(trace.as_ref());
    processes.push(grandchild.unwrap().parse().unwrap());
    assert_eq!(processes.len(), 2);
    calling.kill();
    for pid in processes {
        assert_gone(pid, Duration::from_secs(5));
    }

    let next = switchboard.run(&["call", "other", "echo", "text=next"]).expect(0);
    insta::assert_snapshot!(transcript(&next), @"
    exit status 0
    --- stdout
    next
    --- stderr
    warning: a switchboard process crashed; 1 of its calls may have run
    hint: `switchboard calls --outcome unknown` lists them
    ");
    let recorded = ["tool echo/slow: unknown (host_crash)", "tool other/echo: ok"];
    assert_eq!(switchboard.recorded_calls(), recorded);
    let unknown = switchboard.json(&["calls", "--outcome", "unknown"]);
    assert_eq!(unknown.as_array().map(Vec::len), Some(1));
    let once = switchboard.run(&["call", "other", "echo", "text=after"]).expect(0);
    assert_eq!(once.stderr, "", "the same call is told twice");
}
