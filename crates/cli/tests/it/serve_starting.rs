//! Tests of calls to a server that is still starting, or fails to start.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use switchboard_testkit::binary;

use crate::gateway::{Gateway, NEWEST_LEGACY, answer_text};
use crate::running::{TEST_TIMEOUT, poll};
use crate::serve_client::{ServingGateway, tool_call};
use crate::serve_tokens::token;
use crate::switchboard::{Switchboard, fixture};

/// Returns a server that runs a script file; its text is not in the entry, which would be shown for
/// approval.
fn script(switchboard: &Switchboard, name: &str, text: &str) -> Value {
    let path = switchboard.write(name, &format!("#!/bin/sh\n{text}\n"));
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    json!({"command": path})
}

/// Returns a server that starts when the test creates the gate file.
fn late(switchboard: &Switchboard, words: &str) -> (Value, PathBuf) {
    let gate = switchboard.path("gate");
    let wanted = gate.display();
    let program = binary();
    let text = format!(
        "until [ -e '{wanted}' ]; do sleep 0.05; done\nexec '{}' {words}",
        program.display()
    );
    (script(switchboard, "late.sh", &text), gate)
}

/// Returns a home with a server that fails with a message, and a working one.
fn broken() -> Switchboard {
    let switchboard = Switchboard::new();
    let bad = script(&switchboard, "bad.sh", "echo no such library >&2\nexit 3");
    switchboard.configure(&json!({"bad": bad, "here": fixture(&["echo"])}));
    switchboard
}

/// Calls a starting server in a thread, and opens the gate once calls to another server were
/// answered.
fn called_late(
    gateway: &Gateway,
    gate: &PathBuf,
    call: impl Fn(&Gateway) -> Value + Sync,
) -> Value {
    std::thread::scope(|scope| {
        let late = scope.spawn(|| call(gateway));
        for _ in 0..3 {
            // A ready server does not wait for a starting one.
            let here = gateway.modern().call("here__echo", &json!({"text": "at once"}));
            assert_eq!(answer_text(&here), "at once");
        }
        assert!(!late.is_finished(), "nobody waited: {:?}", late.join());
        std::fs::write(gate, "").unwrap();
        late.join().unwrap()
    })
}

#[test]
fn a_call_waits_for_its_server_to_come_up_and_keeps_no_other_waiting() {
    type Call = fn(&Gateway) -> Value;
    let cases: [(Call, &str, &str); 5] = [
        (|gateway| gateway.modern().call("late__echo", &json!({"text": "a"})), "content", "a"),
        (
            |gateway| gateway.legacy(NEWEST_LEGACY).call("late__echo", &json!({"text": "b"})),
            "content",
            "b",
        ),
        (
            |gateway| {
                let greet = json!({"name": "late__greet", "arguments": {"name": "Ada"}});
                gateway.modern().ask("prompts/get", &greet)
            },
            "messages",
            "Hello, Ada.",
        ),
        (
            |gateway| gateway.modern().ask("resources/read", &json!({"uri": "test://template/7"})),
            "contents",
            "7",
        ),
        (
            |gateway| {
                let echo = json!({"name": "late__echo", "arguments": {"text": "c"}});
                gateway.modern().call("call_tool", &echo)
            },
            "content",
            "c",
        ),
    ];
    for (number, (call, member, expected)) in cases.into_iter().enumerate() {
        let switchboard = Switchboard::new();
        let (late, gate) = late(&switchboard, "echo");
        // The other server has no resources of its own.
        switchboard.configure(&json!({"late": late, "here": text_server(&switchboard)}));
        let options: &[&str] = if number == 4 { &["--tools", "search"] } else { &[] };
        let gateway = Gateway::start(&switchboard, options);
        let answer = called_late(&gateway, &gate, call);
        let first = &answer["result"][member][0];
        let text = first["text"].as_str().or(first["content"]["text"].as_str());
        assert!(text.is_some_and(|text| text.contains(expected)), "{number}: {answer}");
    }
}

/// Returns a server with one tool that returns its text.
fn text_server(switchboard: &Switchboard) -> Value {
    let schema = json!({"type": "object", "properties": {"text": {"type": "string"}}});
    let text = json!({"content": [{"type": "text", "text": "at once"}]});
    let offers = json!({
        "tools": [{"name": "echo", "description": "Answers.", "inputSchema": schema}],
        "results": {"echo": text},
    });
    let path = switchboard.write("here.json", &offers.to_string());
    fixture(&["given", "--offers", path.to_str().unwrap()])
}

#[test]
fn a_plain_name_waits_for_any_server_that_is_still_coming_up() {
    let switchboard = Switchboard::new();
    let here = json!({"here": text_server(&switchboard)});
    switchboard
        .write_config(&json!({"mcpServers": here, "settings": {"builtin": false}}).to_string());
    let gateway = Gateway::with_tool(&switchboard, &["--names", "plain"], "echo");
    let (late, gate) = late(&switchboard, "weather");
    let both = json!({"here": text_server(&switchboard), "late": late});
    switchboard
        .write_config(&json!({"mcpServers": both, "settings": {"builtin": false}}).to_string());
    // The tool does not exist until the running gateway has read its file.
    let began = Mutex::new(Instant::now());
    let answer = std::thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            poll(TEST_TIMEOUT, || {
                *began.lock().unwrap() = Instant::now();
                let answer = gateway.modern().call("get_forecast", &json!({"city": "Oslo"}));
                answer.get("result").is_some().then_some(answer)
            })
        });
        let waits = || (began.lock().unwrap().elapsed() > Duration::from_secs(2)).then_some(());
        assert!(poll(TEST_TIMEOUT, waits).is_some(), "nobody waited");
        let last = *began.lock().unwrap();
        assert_eq!(answer_text(&gateway.modern().call("echo", &json!({}))), "at once");
        std::fs::write(&gate, "").unwrap();
        let answer = waiting.join().unwrap().expect("the late tool answers");
        assert_eq!(
            last,
            *began.lock().unwrap(),
            "the call that waited is the one that is answered"
        );
        answer
    });
    assert!(answer_text(&answer).contains("Oslo"), "{answer}");
}

#[test]
fn a_call_of_a_server_that_does_not_come_up_fails_with_the_reason() {
    let switchboard = broken();
    let gateway = Gateway::with_tool(&switchboard, &[], "here__echo");
    let legacy = gateway.legacy(NEWEST_LEGACY);
    let modern = gateway.modern();
    let arguments = json!({"text": "a"});
    for answer in [legacy.call("bad__echo", &arguments), modern.call("bad__echo", &arguments)] {
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        let text = answer_text(&answer);
        assert!(text.contains("`bad`") && text.contains("status 3"), "{answer}");
        let about = &answer["result"]["_meta"]["switchboard/outcome"];
        assert_eq!(about["outcome"], "not_sent", "{answer}");
    }
    let prompt = modern.ask("prompts/get", &json!({"name": "bad__greet"}));
    let why = prompt["error"]["message"].as_str().unwrap();
    assert!(why.contains("`bad`") && why.contains("status 3"), "{prompt}");
    let read = modern.ask("resources/read", &json!({"uri": "bad://nowhere"}));
    let why = read["error"]["message"].as_str().unwrap();
    assert!(why.starts_with("unknown resource `bad://nowhere`: server `bad`"), "{read}");
    // The names of other servers do not change.
    let answer = modern.call("good__echo", &arguments);
    let why = answer["error"]["message"].as_str().unwrap();
    assert!(why.starts_with("unknown tool `good__echo`"), "{why}");
    let recorded = switchboard.recorded_calls();
    let rows: Vec<&str> = recorded.iter().map(String::as_str).collect();
    assert!(rows.iter().all(|row| row.contains(" bad/") && row.contains("not_sent")), "{rows:?}");
    assert_eq!(rows.len(), 3, "{rows:?}");
}

#[test]
fn who_does_not_see_a_server_does_not_learn_that_it_is_not_there() {
    let switchboard = broken();
    let few = token(&switchboard, &["few", "--server", "here"]);
    let serving = ServingGateway::start(&switchboard, &["--require-token"]);
    serving.wait_for_tool(Some(&few), "here__echo");
    let called = serving.send(&tool_call(Some(&few), "bad__echo", &json!({"text": "a"})));
    let answer = called.json();
    let why = answer["error"]["message"].as_str().unwrap();
    assert!(why.starts_with("unknown tool `bad__echo`") && !why.contains("ready"), "{why}");
    let read = serving.ask(Some(&few), "resources/read", json!({"uri": "x://y"}));
    assert_eq!(read["error"]["message"], "unknown resource `x://y`");
}
