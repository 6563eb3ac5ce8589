//! Tests of a graceful stop: running calls may finish, no new one begins, and all are recorded.

use std::io::Write as _;
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::gateway::{Gateway, NEWEST_LEGACY, answer_text};
use crate::http_client::send;
use crate::running::TEST_TIMEOUT;
use crate::serve_client::{ServingGateway, tool_call, until};
use crate::switchboard::{Switchboard, fixture};

/// Returns a home with a server that traces its requests, so that a test knows when a call has
/// arrived.
fn traced_home() -> (Switchboard, std::path::PathBuf) {
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
    let (switchboard, trace) = traced_home();
    let serving = ServingGateway::start(&switchboard, &[]);
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
    assert_eq!((reply.status, &reply.json()["result"]["isError"]), (200, &Value::Null));
    assert_eq!(serving.finish().code, 0);
    assert_eq!(switchboard.recorded_calls(), ["tool one/slow: ok"]);
}

#[test]
fn a_call_that_waits_for_its_client_is_given_up_and_recorded() {
    let switchboard = Switchboard::with(&json!({
        "old": fixture(&["echo", "--era", "legacy"]), "new": fixture(&["echo", "--era", "modern"]),
    }));
    let serving = ServingGateway::start(&switchboard, &[]);
    for server in ["new", "old"] {
        let tool = format!("{server}__ask");
        serving.wait_for_tool(None, &tool);
        let call = json!({"name": tool, "arguments": {"question": "Which one?"}});
        let asked = serving.ask(None, "tools/call", call);
        assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    }
    serving.signal("TERM");
    assert_eq!(serving.finish().code, 0);
    let ends: Vec<[Value; 3]> = (switchboard.json(&["calls"]).as_array().unwrap().iter())
        .map(|call| ["server", "outcome", "reason"].map(|key| call[key].clone()))
        .collect();
    let expected = ["old", "new"].map(|server| [server, "unknown", "caller_gone"].map(Value::from));
    assert_eq!(ends, expected);
}

#[test]
fn clients_on_streams_get_their_answers_and_the_end_of_the_stream() {
    let (switchboard, trace) = traced_home();
    let gateway = Gateway::with_tool(&switchboard, &[], "one__slow");
    let legacy = gateway.legacy(NEWEST_LEGACY);
    let modern = gateway.modern();
    let slow = json!({
        "name": "one__slow", "arguments": {"ms": 3_000, "steps": 30}, "_meta": {"progressToken": 1},
    });
    let mut first = send("GET", &gateway.place("/sse"), &[("Accept", "text/event-stream")], "");
    let (_, place) = first.next_event().unwrap();
    let post = |method: &str, params: &Value| {
        let body = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
        let headers = [("Content-Type", "application/json")];
        assert_eq!(send("POST", &gateway.place(&place), &headers, &body.to_string()).status, 202);
    };
    post("initialize", &json!({"protocolVersion": "2024-11-05", "capabilities": {}}));
    first.next_of_a_request();
    post("tools/call", &slow);
    let mut streams = [first, legacy.send("tools/call", &slow), modern.send("tools/call", &slow)];
    let idle = legacy.listen();
    until(|| std::fs::read_to_string(&trace).unwrap().matches("tools/call").count() == 3);
    gateway.running.signal("TERM");
    for stream in &mut streams {
        let last = std::iter::from_fn(|| stream.next_event()).last().unwrap().1;
        let answer: Value = serde_json::from_str(&last).unwrap();
        assert_eq!(answer_text(&answer), "slept 3000 ms");
    }
    // This session has no requests, so it ends and delays nothing.
    idle.texts();
    assert_eq!(gateway.running.finish_within(TEST_TIMEOUT).code, 0);
    assert_eq!(switchboard.recorded_calls(), ["tool one/slow: ok"; 3]);
}

#[test]
fn a_call_whose_client_hung_up_may_finish_too() {
    let (switchboard, trace) = traced_home();
    let gateway = Gateway::with_tool(&switchboard, &[], "one__slow");
    let legacy = gateway.legacy(NEWEST_LEGACY);
    let call = json!({
        "name": "one__slow", "arguments": {"ms": 1_500, "steps": 15}, "_meta": {"progressToken": 1},
    });
    drop(legacy.send("tools/call", &call));
    until(|| has_arrived(&trace));
    gateway.running.signal("TERM");
    assert_eq!(gateway.running.finish_within(TEST_TIMEOUT).code, 0);
    assert_eq!(switchboard.recorded_calls(), ["tool one/slow: ok"]);
}

#[test]
fn what_takes_longer_than_the_drain_is_given_up_and_recorded() {
    let (switchboard, trace) = traced_home();
    let serving = ServingGateway::start(&switchboard, &["--drain", "1"]);
    serving.wait_for_tool(None, "one__slow");
    let mut stream = serving.connect();
    let slow = tool_call(None, "one__slow", &json!({"ms": 60_000}));
    stream.write_all(slow.text(serving.port).as_bytes()).unwrap();
    until(|| has_arrived(&trace));
    serving.signal("TERM");
    assert_eq!(serving.finish().code, 0);
    assert_eq!(switchboard.recorded_calls(), ["tool one/slow: unknown (may_have_executed)"]);
}

#[test]
fn a_client_at_a_pipe_gets_what_it_waits_for() {
    let (switchboard, trace) = traced_home();
    let mut running = switchboard.start(&["serve", "--stdio"]);
    let say = |running: &mut crate::running::RunningProcess, message: Value| {
        running.say(&format!("{message}\n"));
    };
    say(
        &mut running,
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"},
        }}),
    );
    running.wait_for(r#""id":0"#);
    // The list contains the server's tools as soon as it is ready.
    let mut number = 100;
    until(|| {
        number += 1;
        say(&mut running, json!({"jsonrpc": "2.0", "id": number, "method": "tools/list"}));
        running.wait_for(&format!(r#""id":{number},"#));
        running.output_text().contains("one__slow")
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
    let ran = running.finish_within(TEST_TIMEOUT);
    assert_eq!(ran.code, 0);
    assert_eq!(switchboard.recorded_calls(), ["tool one/slow: ok"]);
}

#[test]
fn what_is_cut_off_is_recorded_as_that_whoever_called_and_whatever_it_waited_for() {
    let (switchboard, trace) = traced_home();
    let rules = json!({"rules": [{"effect": "ask", "target": "one/echo"}]});
    switchboard.write_policy("user", &rules);
    let gateway = Gateway::with_tool(&switchboard, &["--drain", "1"], "one__slow");
    let legacy = gateway.legacy(NEWEST_LEGACY);
    let modern = gateway.modern();
    let slow = json!({"ms": 60_000});
    let echo = json!({"text": "waits for a person"});
    let answers = std::thread::scope(|scope| {
        let calls: [Box<dyn FnOnce() -> Value + Send>; 4] = [
            Box::new(|| gateway.legacy(NEWEST_LEGACY).call("one__slow", &slow)),
            Box::new(|| gateway.modern().call("one__slow", &slow)),
            Box::new(|| gateway.legacy(NEWEST_LEGACY).call("one__echo", &echo)),
            Box::new(|| gateway.modern().call("one__echo", &echo)),
        ];
        let calls = calls.map(|call| scope.spawn(call));
        until(|| std::fs::read_to_string(&trace).unwrap().matches("tools/call").count() == 2);
        until(|| switchboard.json(&["review"]).as_array().unwrap().len() == 2);
        gateway.running.signal("TERM");
        calls.map(|call| call.join().unwrap())
    });
    drop((legacy, modern));
    for (answer, reason) in
        answers.iter().zip(["may_have_executed", "may_have_executed", "host_ended", "host_ended"])
    {
        let outcome = &answer["result"]["_meta"]["switchboard/outcome"];
        assert_eq!(outcome["reason"], reason, "{answer}");
        assert!(answer_text(answer).contains("Switchboard"), "{answer}");
    }
    assert_eq!(gateway.running.finish_within(TEST_TIMEOUT).code, 0);
    let mut recorded = switchboard.recorded_calls();
    recorded.sort();
    let echo = "tool one/echo: not_sent (host_ended)";
    let slow = "tool one/slow: unknown (may_have_executed)";
    assert_eq!(recorded, [echo, echo, slow, slow]);
}
