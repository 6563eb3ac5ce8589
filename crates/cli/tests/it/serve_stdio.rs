//! Tests of the gateway over standard input and output, for clients of both eras.

use std::time::Duration;

use serde_json::{Value, json};

use crate::gateway::{MODERN, answer_text, modern_params, names};
use crate::running::{RunningProcess, TEST_TIMEOUT, poll};
use crate::serve_client::until;
use crate::switchboard::{Switchboard, fixture};

/// Sends a request and waits for its response.
pub(crate) fn ask(running: &mut RunningProcess, id: u64, method: &str, params: &Value) -> Value {
    let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    running.say(&format!("{request}\n"));
    let read = |line: &str| serde_json::from_str::<Value>(line).unwrap_or_default();
    let line = running.wait_for_line(|line| read(line)["id"] == id);
    read(&line)
}

/// Lists with increasing ids until the tools are there.
pub(crate) fn wait_listed(running: &mut RunningProcess, params: &Value, tool: &str) -> Vec<String> {
    let mut id = 1_000;
    let found = poll(TEST_TIMEOUT, || {
        id += 1;
        let names = names(&ask(running, id, "tools/list", params), "tools");
        names.iter().any(|name| name == tool).then_some(names)
    });
    found.unwrap_or_else(|| panic!("`{tool}` is not listed"))
}

#[test]
fn a_legacy_client_shakes_hands_lists_and_calls_over_a_pipe() {
    let switchboard = Switchboard::with(&json!({"echo": fixture(&["echo"])}));
    let mut running = switchboard.start(&["serve", "--stdio"]);
    let early = ask(&mut running, 1, "tools/list", &json!({}));
    assert_eq!(early["error"]["code"], -32600, "{early}");
    let greeting = json!({
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "pipe", "version": "0"},
    });
    let welcome = ask(&mut running, 2, "initialize", &greeting);
    assert_eq!(welcome["result"]["protocolVersion"], "2025-06-18");
    running.say("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
    let tools = wait_listed(&mut running, &json!({}), "echo__echo");
    assert_eq!(tools.len(), 11 + crate::serve_lists::BUILT_IN.len(), "{tools:?}");
    let call = json!({"name": "echo__echo", "arguments": {"text": "a"}});
    let echoed = ask(&mut running, 3, "tools/call", &call);
    assert_eq!(answer_text(&echoed), "a");
    running.close_input();
    let ran = running.finish_within(Duration::from_secs(20)).expect(0);
    let told = "new server `echo`: 11 tools pinned without review, no findings\n";
    assert_eq!(ran.stderr, told);
    assert_eq!(switchboard.recorded_calls(), ["tool echo/echo: ok"]);
}

#[test]
fn a_modern_client_needs_no_handshake_over_a_pipe() {
    let switchboard = Switchboard::with(&json!({"echo": fixture(&["echo"])}));
    let mut running = switchboard.start(&["serve", "--stdio"]);
    let with = |params: Value| modern_params(&params, &json!({}));
    let found = ask(&mut running, 1, "server/discover", &with(json!({})));
    assert_eq!(found["result"]["supportedVersions"], json!([MODERN]));
    wait_listed(&mut running, &with(json!({})), "echo__echo");
    let call = with(json!({"name": "echo__echo", "arguments": {"text": "a"}}));
    let echoed = ask(&mut running, 2, "tools/call", &call);
    assert_eq!((answer_text(&echoed), &echoed["result"]["resultType"]), ("a", &json!("complete")));
    let mut unknown = call;
    unknown["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2030-01-01");
    assert_eq!(ask(&mut running, 3, "tools/call", &unknown)["error"]["code"], -32022);
    running.close_input();
    running.finish_within(Duration::from_secs(20)).expect(0);
}

#[test]
fn what_is_cancelled_over_a_pipe_is_cancelled_at_the_server() {
    let switchboard = Switchboard::new();
    let journal = switchboard.text_path("journal");
    switchboard.configure(&json!({"echo": fixture(&["echo", "--journal", &journal])}));
    let mut running = switchboard.start(&["serve", "--stdio"]);
    let with = |params: Value| modern_params(&params, &json!({}));
    wait_listed(&mut running, &with(json!({})), "echo__slow");
    let arguments = json!({"ms": 600_000, "steps": 100_000});
    let call = with(json!({
        "name": "echo__slow", "arguments": arguments, "_meta": {"progressToken": 5},
    }));
    let request = json!({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": call});
    running.say(&format!("{request}\n"));
    running.wait_for("\"progressToken\":5");
    let cancel = json!({"requestId": 9, "reason": "enough"});
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel});
    running.say(&format!("{cancel}\n"));
    crate::running::wait_for_text(&switchboard.path("journal"), "cancelled");
    running.close_input();
    let ran = running.finish_within(Duration::from_secs(20)).expect(0);
    assert!(!ran.stdout.contains("\"id\":9"), "{ran:?}");
}

#[test]
fn a_call_that_went_on_after_a_round_is_cancelled_by_its_last_request() {
    let switchboard = Switchboard::new();
    let journal = switchboard.text_path("journal");
    let trace = switchboard.text_path("trace");
    let words = ["echo", "--journal", &journal, "--trace", &trace];
    switchboard.configure(&json!({"echo": fixture(&words)}));
    let mut running = switchboard.start(&["serve", "--stdio", "--review", "ask"]);
    let with = |params: Value| modern_params(&params, &json!({"elicitation": {}}));
    wait_listed(&mut running, &with(json!({})), "echo__slow");
    let call = json!({"name": "echo__slow", "arguments": {"ms": 600_000, "steps": 100_000}});
    let began = |id: u64, running: &mut RunningProcess| {
        let asked = ask(running, id, "tools/call", &with(call.clone()))["result"].clone();
        let key = asked["inputRequests"].as_object().unwrap().keys().next().unwrap();
        let mut again = call.clone();
        let yes = json!({"action": "accept", "content": {"answer": "run"}});
        again["inputResponses"] = json!({key: yes});
        again["requestState"] = asked["requestState"].clone();
        let params = with(again);
        let request =
            json!({"jsonrpc": "2.0", "id": id + 1, "method": "tools/call", "params": params});
        running.say(&format!("{request}\n"));
    };
    let started = || {
        let heard = std::fs::read_to_string(&trace).unwrap_or_default();
        heard.lines().filter(|line| line.contains("tools/call")).count()
    };
    began(1, &mut running);
    until(|| started() > 0);
    let cancel = json!({"requestId": 2, "reason": "enough"});
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel});
    running.say(&format!("{cancel}\n"));
    crate::running::wait_for_text(&switchboard.path("journal"), "cancelled");
    // The end of the pipe cancels the remaining calls.
    let before = started();
    began(3, &mut running);
    until(|| started() > before);
    running.close_input();
    let ran = running.finish_within(Duration::from_secs(20)).expect(0);
    assert!(!ran.stdout.contains("\"id\":2,"), "{ran:?}");
    assert_eq!(switchboard.recorded_calls(), ["tool echo/slow: cancelled (by_caller)"; 2]);
}
