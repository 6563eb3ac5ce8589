//! Faults around a running gateway: repeated signals, a removed server, no file descriptors left.

use std::io::Write as _;
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::json;

use crate::running::{RunningProcess, TEST_TIMEOUT, assert_gone, started_pids, wait_for_text};
use crate::serve_client::{ServingGateway, Site, tool_call, until};
use crate::switchboard::{Switchboard, fixture};

/// Returns a gateway with one server that traces its requests.
fn traced_gateway() -> (Switchboard, ServingGateway, String) {
    let switchboard = Switchboard::new();
    let trace = switchboard.text_path("trace");
    switchboard.configure(&json!({"one": fixture(&["echo", "--trace", &trace])}));
    let serving = ServingGateway::start(&switchboard, &[]);
    serving.wait_for_tool(None, "one__slow");
    (switchboard, serving, trace)
}

/// Starts a call that takes this long.
fn begin(site: &Site, trace: &str, milliseconds: u32) -> TcpStream {
    let slow = tool_call(None, "one__slow", &json!({"ms": milliseconds}));
    let mut stream = site.connect();
    stream.write_all(slow.text(site.port).as_bytes()).unwrap();
    wait_for_text(Path::new(trace), "tools/call");
    stream
}

#[test]
fn f64_a_second_request_to_end_is_not_put_off() {
    let (switchboard, serving, trace) = traced_gateway();
    let _waiting = begin(&serving, &trace, 600_000);
    serving.signal("TERM");
    until(|| TcpStream::connect(("127.0.0.1", serving.port)).is_err());
    serving.signal("TERM");
    serving.finish();
    for pid in started_pids(trace.as_ref()) {
        assert_gone(pid, Duration::from_secs(5));
    }
    let calls = switchboard.json(&["calls"]);
    assert_eq!(calls[0]["outcome"], "unknown", "{calls}");
    switchboard.run(&["calls", "verify"]).expect(0);
}

#[test]
fn f73_a_call_to_a_server_that_is_taken_out_of_the_file_ends_and_no_other_begins() {
    let (switchboard, serving, trace) = traced_gateway();
    let slow = tool_call(None, "one__slow", &json!({"ms": 2_000}));
    let reply = std::thread::scope(|scope| {
        let calling = scope.spawn(|| serving.send(&slow));
        wait_for_text(trace.as_ref(), "tools/call");
        switchboard.configure(&json!({}));
        until(|| !serving.tools(None).iter().any(|tool| tool == "one__slow"));
        let refused = serving.send(&tool_call(None, "one__echo", &json!({"text": "a"}))).json();
        assert!(refused["error"].is_object(), "{refused}");
        calling.join().unwrap().json()
    });
    assert_eq!(reply["result"]["content"][0]["text"], "slept 2000 ms", "{reply}");
    for pid in started_pids(trace.as_ref()) {
        assert_gone(pid, Duration::from_secs(10));
    }
    assert_eq!(switchboard.recorded_calls(), ["tool one/slow: ok"]);
}

#[test]
fn f76_without_files_to_open_what_runs_ends_well_and_others_get_in_later() {
    let switchboard = Switchboard::new();
    let trace = switchboard.text_path("trace");
    switchboard.configure(&json!({"one": fixture(&["echo", "--trace", &trace])}));
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -n 64; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_switchboard")]);
    command.args(["serve", "--json", "--listen", "127.0.0.1:0"]);
    switchboard.surround(&mut command);
    let running = RunningProcess::start(&mut command);
    let site = Site::from_line(&running.first_line());
    site.wait_for_tool(None, "one__slow");
    let slow = tool_call(None, "one__slow", &json!({"ms": 3_000}));
    let reply = std::thread::scope(|scope| {
        let calling = scope.spawn(|| site.send(&slow));
        wait_for_text(trace.as_ref(), "tools/call");
        // The system accepts these connections; the gateway lacks file descriptors for all of them.
        let many: Vec<TcpStream> = (0..100).map(|_| site.connect()).collect();
        let reply = calling.join().unwrap();
        drop(many);
        reply
    });
    assert_eq!(reply.json()["result"]["content"][0]["text"], "slept 3000 ms", "{reply:?}");
    // Failed reads and writes are retried without intervention.
    until(|| {
        let reply = site.send(&tool_call(None, "one__echo", &json!({"text": "again"})));
        reply.status == 200 && reply.json()["result"]["content"][0]["text"] == "again"
    });
    running.signal("TERM");
    assert_eq!(running.finish_within(TEST_TIMEOUT).code, 0);
    let recorded = switchboard.recorded_calls();
    assert!(recorded.iter().any(|call| call == "tool one/echo: ok"), "{recorded:?}");
    switchboard.run(&["calls", "verify"]).expect(0);
}
