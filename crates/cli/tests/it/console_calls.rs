//! The record in the web console: found by every filter, exported, repeated; pending calls.

use std::thread;

use serde_json::{Value, json};

use crate::console_person::{Person, client_call};
use crate::running::{TEST_TIMEOUT, poll};
use crate::serve_client::until;
use crate::switchboard::{Switchboard, fixture};
use crate::testenv;

fn echo(arguments: &[&str]) -> (Switchboard, Person) {
    let switchboard = Switchboard::new();
    // An "always" counts only if this is on.
    let settings = json!({"autoApprove": true});
    let config = json!({"mcpServers": {"echo": fixture(&["echo"])}, "settings": settings});
    switchboard.write_config(&config.to_string());
    let person = Person::at(&switchboard, arguments);
    until(|| person.ask("servers/echo")["state"] == "ready");
    (switchboard, person)
}

fn targets(found: &Value) -> Vec<String> {
    let calls = found["calls"].as_array().unwrap();
    calls.iter().map(|call| call["target"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn calls_are_found_by_tool_caller_outcome_time_and_text() {
    let (_switchboard, person) = echo(&[]);
    person.call("echo", "echo", &json!({"text": "a"}));
    person.call("echo", "fail", &json!({"message": "broken on purpose"}));
    person.serving.send(&client_call("echo__add", &json!({"a": 1, "b": 2})));
    until(|| targets(&person.ask("calls")).len() == 3);
    for (query, expected) in [
        ("", vec!["add", "fail", "echo"]),
        ("tool=echo", vec!["echo"]),
        ("tool=ech", vec![]),
        ("caller=person:person", vec!["fail", "echo"]),
        ("caller=person", vec!["fail", "echo"]),
        ("outcome=tool_error", vec!["fail"]),
        ("text=FAI", vec!["fail"]),
        ("since=1h", vec!["add", "fail", "echo"]),
        ("since=2200-01-01T00:00:00Z", vec![]),
        ("until=2000-01-01T00:00:00Z", vec![]),
        ("server=echo&since=10m&text=add", vec!["add"]),
    ] {
        assert_eq!(targets(&person.ask(&format!("calls?{query}"))), expected, "{query}");
    }
    assert_eq!(person.get("/api/v1/calls?since=soon").status, 422);
    let page = person.get("/calls?tool=echo&since=24h").body;
    assert!(page.contains("/api/v1/calls/export?tool=echo&amp;since=24h"), "{page}");
}

#[test]
fn the_record_is_exported_in_lines_of_json() {
    let (_switchboard, person) = echo(&[]);
    for number in 0..120 {
        person.call("echo", "add", &json!({"a": number, "b": 1}));
    }
    let exported = person.get("/api/v1/calls/export?tool=add");
    assert_eq!(
        (exported.status, exported.header("content-type")),
        (200, Some("application/jsonl"))
    );
    assert!(exported.header("content-disposition").unwrap().contains("calls.jsonl"));
    let lines: Vec<Value> =
        exported.body.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let numbers: Vec<i64> =
        lines.iter().map(|line| line["arguments"]["a"].as_i64().unwrap()).collect();
    assert_eq!(numbers, (0..120).rev().collect::<Vec<_>>());
    assert_eq!(lines[0]["result"]["structuredContent"]["sum"], 120);
    assert_eq!(person.get("/api/v1/calls/export?outcome=odd").status, 422);
}

#[test]
fn a_recorded_call_is_made_once_more_but_not_with_what_the_record_left_out() {
    let (_switchboard, person) = echo(&[]);
    let first = person.call("echo", "add", &json!({"a": 2, "b": 40}));
    let path = format!("calls/{}/again", first["id"].as_str().unwrap());
    let again = person.act(&path, &json!({})).json();
    assert_eq!((&again["outcome"], &again["result"]), (&json!("ok"), &first["result"]));
    assert_ne!(again["id"], first["id"]);
    let secret = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";
    let hidden = person.call("echo", "echo", &json!({"text": secret}));
    let id = hidden["id"].as_str().unwrap();
    assert!(!person.ask(&format!("calls/{id}")).to_string().contains(secret));
    assert_eq!(person.act(&format!("calls/{id}/again"), &json!({})).status, 422);
    assert_eq!(person.act("calls/999999/again", &json!({})).status, 404);
}

#[test]
fn a_call_is_run_with_other_arguments_or_for_the_session_or_always() {
    let (_switchboard, person) = echo(&["--review", "ask"]);
    let site = *person.serving;
    let wanted = |text: &str| {
        let call = client_call("echo__echo", &json!({"text": text}));
        let client = thread::spawn(move || site.send(&call));
        until(|| person.ask("reviews").as_array().unwrap().len() == 1);
        (client, person.ask("reviews")[0].clone())
    };
    let answer = |review: &Value, given: Value| {
        let mut given = given;
        given["digest"] = review["digest"].clone();
        let path = format!("reviews/{}/answer", review["id"].as_str().unwrap());
        assert_eq!(person.act(&path, &given).status, 200);
    };
    let (client, review) = wanted("first");
    assert!(review["risk"]["score"].is_number(), "{review}");
    answer(&review, json!({"answer": "run", "arguments": "{\"text\": \"second\"}"}));
    assert!(client.join().unwrap().body.contains("second"));
    let (client, review) = wanted("third");
    answer(&review, json!({"answer": "always"}));
    assert!(client.join().unwrap().body.contains("third"));
    let unasked = site.send(&client_call("echo__echo", &json!({"text": "fourth"})));
    assert!(unasked.body.contains("fourth"), "{unasked:?}");
}

#[test]
fn a_form_of_a_real_server_is_filled_in_on_the_page() {
    let switchboard = Switchboard::with(&json!({"everything": testenv::everything()}));
    let person = Person::at(&switchboard, &[]);
    let is_ready = || (person.ask("servers/everything")["state"] == "ready").then_some(());
    poll(TEST_TIMEOUT, is_ready).expect("the server starts");
    let call = person.action("tools/everything/trigger-elicitation-request/call", &json!({}));
    let site = *person.serving;
    let calling = thread::spawn(move || site.send(&call));
    until(|| person.ask("reviews").as_array().unwrap().len() == 1);
    let review = person.ask("reviews")[0].clone();
    assert_eq!((&review["kind"], &review["order"][0]), (&json!("form"), &json!("name")));
    let page = person.get("/reviews").body;
    for part in [
        "type=\"email\"",
        "type=\"date\"",
        "data-kind=\"choices\"",
        "data-field=\"integer\" data-kind=\"number\" step=\"1\"",
        "data-answer=\"accept\"",
    ] {
        assert!(page.contains(part), "no {part} in {page}");
    }
    let path = format!("reviews/{}/answer", review["id"].as_str().unwrap());
    let given = |content: Value| {
        let body = json!({"digest": review["digest"], "answer": "accept", "content": content});
        person.act(&path, &body).status
    };
    assert_eq!(given(json!({"name": 7})), 409, "it does not fit the form");
    assert_eq!(given(json!({"name": "Ada", "integer": 42})), 200);
    let called = calling.join().unwrap().body;
    assert!(called.contains("Ada") && called.contains("42"), "{called}");
}
