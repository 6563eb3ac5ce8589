//! Tests of unreadable and ambiguous messages, which are refused over HTTP and over a pipe.

use serde_json::{Value, json};

use crate::gateway::{Gateway, modern_params};
use crate::http_client::send;
use crate::running::{RunningProcess, TEST_TIMEOUT};
use crate::serve_client::{ServingGateway, tool_call};
use crate::serve_stdio::{ask, wait_listed};
use crate::switchboard::{Switchboard, fixture};

#[test]
fn a_message_that_can_be_read_in_two_ways_or_not_at_all_is_refused_over_http() {
    let switchboard = Switchboard::with(&json!({"one": fixture(&["echo"])}));
    let serving = ServingGateway::start(&switchboard, &[]);
    serving.wait_for_tool(None, "one__echo");
    let call = tool_call(None, "one__echo", &json!({"text": "a"}));
    let with = |change: &dyn Fn(&mut Value)| {
        let mut body: Value = serde_json::from_str(call.body_text()).unwrap();
        change(&mut body);
        call.clone().body(&body)
    };
    let capabilities = "io.modelcontextprotocol/clientCapabilities";
    let announced = call.clone().with("Content-Length", "99999999999");
    for (name, request, expected) in [
        ("no id", with(&|body| body["id"] = Value::Null), (400, -32_600)),
        ("an answer as well", with(&|body| body["result"] = json!({})), (400, -32_600)),
        (
            "odd abilities",
            with(&|body| body["params"]["_meta"][capabilities] = json!([])),
            (400, -32_602),
        ),
        ("packed", call.clone().with("Transfer-Encoding", "gzip, chunked"), (415, -32_600)),
        // The gateway refuses without waiting for the body.
        ("too long", announced, (413, -32_600)),
    ] {
        let reply = serving.send(&request);
        assert_eq!(
            (reply.status, &reply.json()["error"]["code"]),
            (expected.0, &json!(expected.1)),
            "{name}"
        );
    }
    assert_eq!(switchboard.recorded_calls(), [""; 0]);
}

fn refusal_code(running: &mut RunningProcess, line: &str) -> i64 {
    let before = running.printed_text().lines().count();
    running.say(&format!("{line}\n"));
    let read = |line: &str| serde_json::from_str::<Value>(line).unwrap_or_default();
    let answer = running.wait_for_some(|so_far| {
        let new = so_far.lines().skip(before).map(read);
        new.into_iter().find(|answer| answer["error"].is_object() && answer["id"].is_null())
    });
    answer["error"]["code"].as_i64().unwrap()
}

#[test]
fn what_is_no_message_is_answered_over_a_pipe_and_what_follows_is_taken() {
    let switchboard = Switchboard::with(&json!({"one": fixture(&["echo"])}));
    let mut running = switchboard.start(&["serve", "--stdio"]);
    let with = |params: Value| modern_params(&params, &json!({}));
    wait_listed(&mut running, &with(json!({})), "one__echo");
    let long = "x".repeat(9 << 20);
    for (line, expected) in [
        ("hello", -32_700),
        ("5", -32_600),
        (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#, -32_600),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32_600),
        (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, -32_600),
        (r#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#, -32_600),
        (&long, -32_600),
    ] {
        let start: String = line.chars().take(60).collect();
        assert_eq!(refusal_code(&mut running, line), expected, "{start}");
    }
    let call = with(json!({"name": "one__echo", "arguments": {"text": "a"}}));
    let echoed = ask(&mut running, 7, "tools/call", &call);
    assert_eq!(echoed["result"]["content"][0]["text"], "a", "{echoed}");
    running.close_input();
    running.finish_within(TEST_TIMEOUT).expect(0);
}

#[test]
fn limits_hold_over_a_pipe() {
    let switchboard = Switchboard::with(&json!({"one": fixture(&["echo"])}));
    let mut running = switchboard.start(&["serve", "--stdio", "--max-in-flight", "2"]);
    let with = |params: Value| modern_params(&params, &json!({}));
    wait_listed(&mut running, &with(json!({})), "one__slow");
    let slow = with(json!({"name": "one__slow", "arguments": {"ms": 1_000}}));
    for id in [1, 2] {
        let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": slow});
        running.say(&format!("{call}\n"));
    }
    let third = ask(&mut running, 3, "tools/list", &with(json!({})));
    assert_eq!(third["error"]["code"], -32_000, "{third}");
    let read = |line: &str| serde_json::from_str::<Value>(line).unwrap_or_default();
    for id in [1, 2] {
        running.wait_for_line(|line| read(line)["id"] == id && read(line)["result"].is_object());
    }
    let fourth = ask(&mut running, 4, "tools/list", &with(json!({})));
    assert!(fourth["result"].is_object(), "{fourth}");
    running.close_input();
    running.finish_within(TEST_TIMEOUT).expect(0);
}

#[test]
fn batches_are_taken_only_where_the_revision_has_them() {
    let switchboard = Switchboard::with(&json!({"one": fixture(&["echo"])}));
    let gateway = Gateway::with_tool(&switchboard, &[], "one__echo");
    let batch = json!([
        {"jsonrpc": "2.0", "id": "a", "method": "ping"},
        {"jsonrpc": "2.0", "id": "b", "method": "ping"},
    ]);
    for (revision, is_taken) in
        [("2024-11-05", false), ("2025-03-26", true), ("2025-06-18", false), ("2025-11-25", false)]
    {
        let reply = gateway.legacy(revision).post(&batch);
        let expected = if is_taken { 200 } else { 400 };
        assert_eq!(reply.status, expected, "{revision} over HTTP");
        let answers = reply.messages();
        if is_taken {
            assert_eq!(answers.len(), 2, "{answers:?}");
        } else {
            assert_eq!(answers[0]["error"]["code"], -32_600, "{answers:?}");
        }
        let mut running = switchboard.start(&["serve", "--stdio", "--no-running"]);
        let greeting = json!({"protocolVersion": revision, "capabilities": {}});
        ask(&mut running, 1, "initialize", &greeting);
        if is_taken {
            running.say(&format!("{batch}\n"));
            running.wait_for(r#""id":"a""#);
            running.wait_for(r#""id":"b""#);
            assert_eq!(refusal_code(&mut running, "[]"), -32_600);
        } else {
            assert_eq!(refusal_code(&mut running, &batch.to_string()), -32_600, "{revision}");
            assert!(!running.printed_text().contains(r#""id":"a""#), "{revision}");
        }
        running.close_input();
        assert_eq!(running.finish_within(TEST_TIMEOUT).code, 0);
    }
    let modern = [("Content-Type", "application/json"), ("MCP-Protocol-Version", "2026-07-28")];
    let reply = send("POST", &gateway.url, &modern, &batch.to_string());
    let status = reply.status;
    let why = reply.messages().pop().unwrap();
    assert_eq!((status, &why["error"]["code"]), (400, &json!(-32_600)));
    assert!(why["error"]["message"].as_str().unwrap().contains("2025-03-26"), "{why}");
    let mut first = send("GET", &gateway.place("/sse"), &[("Accept", "text/event-stream")], "");
    let (_, place) = first.next_event().unwrap();
    let headers = [("Content-Type", "application/json")];
    let reply = send("POST", &gateway.place(&place), &headers, &batch.to_string());
    let status = reply.status;
    let why = reply.messages().pop().unwrap();
    assert_eq!((status, &why["error"]["code"]), (400, &json!(-32_600)));
}
