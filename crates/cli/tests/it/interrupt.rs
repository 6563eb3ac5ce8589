//! Ctrl-C cancels a call: the server is notified, the record shows it, everything ends.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::running::{assert_gone, started_pids, wait_for_text};
use crate::switchboard::{Switchboard, fixture};

#[test]
fn an_interrupt_cancels_the_call_at_the_server_in_either_era() {
    for (era, signal) in [("modern", "INT"), ("legacy", "INT"), ("modern", "TERM")] {
        let switchboard = Switchboard::new();
        let journal = switchboard.text_path("journal");
        let trace = switchboard.text_path("trace");
        let arguments = ["echo", "--era", era, "--journal", &journal, "--trace", &trace];
        switchboard.configure(&json!({"echo": fixture(&arguments)}));
        let calling = switchboard.start(&["call", "echo", "slow", "ms=30000"]);
        wait_for_text(trace.as_ref(), "tools/call");
        calling.signal(signal);
        let ended = calling.finish_within(Duration::from_secs(5)).expect(130);
        assert!(ended.stderr.contains("was cancelled"), "{ended:?}");

        let told = wait_for_text(journal.as_ref(), "\n");
        assert!(told.starts_with("cancelled "), "{era}: the server was told {told:?}");
        assert_eq!(
            switchboard.recorded_calls(),
            ["tool echo/slow: cancelled (by_caller)"],
            "{era}"
        );
        for pid in started_pids(trace.as_ref()) {
            assert_gone(pid, Duration::from_secs(5));
        }
    }
}

#[test]
fn an_interrupt_while_servers_start_ends_them() {
    let switchboard = Switchboard::new();
    let trace = switchboard.text_path("trace");
    let arguments = ["flaky", "--fault", "silent-start", "--trace", &trace];
    switchboard.configure(&json!({"silent": fixture(&arguments)}));
    for (command, number) in [("tools", 1), ("doctor", 2)] {
        let listing = switchboard.start(&[command]);
        let begun = Instant::now();
        while started_pids(trace.as_ref()).len() < number {
            assert!(begun.elapsed() < Duration::from_secs(20), "nothing was started");
            std::thread::sleep(Duration::from_millis(20));
        }
        listing.interrupt();
        let ended = listing.finish_within(Duration::from_secs(5)).expect(130);
        assert_eq!(ended.stdout, "", "{command} has nothing to report");
    }
    for pid in started_pids(trace.as_ref()) {
        assert_gone(pid, Duration::from_secs(5));
    }
}

#[test]
fn a_server_that_ignores_the_request_to_end_is_ended_within_five_seconds() {
    let switchboard = Switchboard::new();
    let trace = switchboard.text_path("trace");
    let arguments = ["flaky", "--fault", "ignore-term", "--trace", &trace];
    switchboard.configure(&json!({"stays": fixture(&arguments)}));
    let begun = Instant::now();
    switchboard.run(&["call", "stays", "echo", "text=a"]).expect(0);
    assert!(begun.elapsed() < Duration::from_secs(8), "it took {:?}", begun.elapsed());
    for pid in started_pids(trace.as_ref()) {
        assert_gone(pid, Duration::from_secs(5));
    }
}
