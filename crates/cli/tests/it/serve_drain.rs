//! A gateway that is asked to end: what runs may finish, nothing new begins, all is recorded.

use std::io::Write as _;
use std::net::TcpStream;

use serde_json::json;

use crate::running::PATIENCE;
use crate::serve_client::{Serving, tool_call, until};
use crate::switchboard::{Switchboard, fixture};

/// A server that notes what it is asked, so that a test knows when a call has arrived.
fn traced() -> (Switchboard, std::path::PathBuf) {
    let switchboard = Switchboard::new();
    let trace = switchboard.path("trace");
    let trace_text = switchboard.text_path("trace");
    switchboard.configure(&json!({"one": fixture(&["echo", "--trace", &trace_text])}));
    (switchboard, trace)
}

fn has_arrived(trace: &std::path::Path) -> bool {
    std::fs::read_to_string(trace).unwrap_or_default().contains("tools/call")
}

#[test]
fn calls_in_flight_finish_and_nobody_new_gets_in() {
    let (switchboard, trace) = traced();
    let serving = Serving::start(&switchboard, &[]);
    serving.wait_for_tool(None, "one__slow");
    let slow = tool_call(None, "one__slow", &json!({"ms": 3_000}));
    let port = serving.port;
    let reply = std::thread::scope(|scope| {
        let calling = scope.spawn(|| serving.send(&slow));
        until(|| has_arrived(&trace));
        serving.signal("TERM");
        until(|| TcpStream::connect(("127.0.0.1", port)).is_err());
        assert!(!calling.is_finished(), "the call ended before anybody could be turned away");
        calling.join().unwrap()
    });
    assert_eq!((reply.status, &reply.json()["result"]["isError"]), (200, &serde_json::Value::Null));
    assert_eq!(serving.finish().code, 0);
    assert_eq!(switchboard.recorded(), ["tool one/slow: ok"]);
}

#[test]
fn what_takes_longer_than_the_drain_is_given_up_and_recorded() {
    let (switchboard, trace) = traced();
    let serving = Serving::start(&switchboard, &["--drain", "1"]);
    serving.wait_for_tool(None, "one__slow");
    let mut stream = serving.connect();
    let slow = tool_call(None, "one__slow", &json!({"ms": 60_000}));
    stream.write_all(slow.text(serving.port).as_bytes()).unwrap();
    until(|| has_arrived(&trace));
    serving.signal("TERM");
    assert_eq!(serving.finish().code, 0);
    assert_eq!(switchboard.recorded(), ["tool one/slow: unknown (may_have_executed)"]);
}

#[test]
fn a_client_at_a_pipe_gets_what_it_waits_for() {
    let (switchboard, trace) = traced();
    let mut running = switchboard.start(&["serve", "--stdio"]);
    let say = |running: &mut crate::running::Running, message: serde_json::Value| {
        running.say(&format!("{message}\n"));
    };
    say(
        &mut running,
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"},
        }}),
    );
    running.wait_for(r#""id":0"#);
    // The list has the server's tools as soon as it is ready.
    let mut number = 100;
    until(|| {
        number += 1;
        say(&mut running, json!({"jsonrpc": "2.0", "id": number, "method": "tools/list"}));
        running.wait_for(&format!(r#""id":{number},"#));
        running.heard().contains("one__slow")
    });
    say(
        &mut running,
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": "one__slow", "arguments": {"ms": 2_000},
        }}),
    );
    until(|| has_arrived(&trace));
    running.signal("TERM");
    running.wait_for(r#""id":1,"result""#);
    let ran = running.finish_within(PATIENCE);
    assert_eq!(ran.code, 0);
    assert_eq!(switchboard.recorded(), ["tool one/slow: ok"]);
}
