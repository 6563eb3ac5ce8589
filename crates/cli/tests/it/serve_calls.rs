//! Tests of calls through the gateway: progress, cancellation, errors, questions, and a server that
//! is gone.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use switchboard_testkit::HttpFixture;

use crate::gateway::{Gateway, Legacy, NEWEST_LEGACY, answer_text};
use crate::running::{TEST_TIMEOUT, poll, wait_for_text};
use crate::switchboard::{Switchboard, fixture};

#[test]
fn progress_comes_under_the_clients_own_token() {
    let switchboard = Switchboard::with(&json!({"echo": fixture(&["echo"])}));
    let gateway = Gateway::with_tool(&switchboard, &[], "echo__slow");
    let legacy = gateway.legacy(NEWEST_LEGACY);
    let modern = gateway.modern();
    for token in [json!("mine"), json!(7), json!("")] {
        let call = json!({
            "name": "echo__slow",
            "arguments": {"ms": 30, "steps": 3},
            "_meta": {"progressToken": token},
        });
        for reply in [legacy.send("tools/call", &call), modern.send("tools/call", &call)] {
            assert!(reply.is_stream());
            let mut messages = reply.messages();
            let answer = messages.pop().unwrap();
            assert_eq!(answer_text(&answer), "slept 30 ms");
            let reports: Vec<Value> =
                messages.iter().map(|report| report["params"].clone()).collect();
            let expected =
                [1, 2, 3].map(|step| json!({"progressToken": token, "progress": step, "total": 3}));
            assert_eq!(reports, expected);
        }
    }
}

#[test]
fn a_cancelled_call_is_cancelled_at_its_server() {
    let switchboard = Switchboard::new();
    let paths = ["legacy", "modern"].map(|name| switchboard.text_path(name));
    switchboard.configure(&json!({
        "old": fixture(&["echo", "--era", "legacy", "--journal", &paths[0]]),
        "new": fixture(&["echo", "--era", "modern", "--journal", &paths[1]]),
    }));
    let gateway = Gateway::with_tool(&switchboard, &[], "old__slow");
    gateway.wait_for_tool("new__slow");
    let call = |server: &str| {
        let arguments = json!({"ms": 600_000, "steps": 100_000});
        let meta = json!({"progressToken": 1});
        json!({"name": format!("{server}__slow"), "arguments": arguments, "_meta": meta})
    };
    // A modern client cancels by closing the response.
    let mut reply = gateway.modern().send("tools/call", &call("old"));
    assert_eq!(reply.next_message()["method"], "notifications/progress");
    drop(reply);
    wait_for_text(&switchboard.path("legacy"), "cancelled");
    // For a legacy client, closing has no meaning; it sends a notification.
    let client = gateway.legacy(NEWEST_LEGACY);
    let body = json!({"jsonrpc": "2.0", "id": "c", "method": "tools/call", "params": call("new")});
    let mut reply = client.post(&body);
    assert_eq!(reply.next_message()["method"], "notifications/progress");
    drop(reply);
    assert_eq!(answer_text(&client.call("new__echo", &json!({"text": "still"}))), "still");
    assert_eq!(std::fs::read_to_string(switchboard.path("modern")).unwrap_or_default(), "");
    client.tell("notifications/cancelled", &json!({"requestId": "c"}));
    wait_for_text(&switchboard.path("modern"), "cancelled");
}

#[test]
fn errors_of_a_server_arrive_with_their_code_and_data() {
    let switchboard = Switchboard::with(&json!({
        "old": fixture(&["conformance", "--era", "legacy"]),
        "new": fixture(&["conformance", "--era", "modern"]),
    }));
    let gateway = Gateway::with_tool(&switchboard, &[], "old__refuse");
    gateway.wait_for_tool("new__refuse");
    let legacy = gateway.legacy(NEWEST_LEGACY);
    let modern = gateway.modern();
    let data = json!({"z": 1, "a": [null, {"deep": "ünï"}]});
    for (code, data) in [(4711, data), (-32000, json!("text")), (-32602, json!([])), (-1, json!(0))]
    {
        let arguments = json!({"code": code, "message": "no, thank you", "data": data});
        for server in ["old", "new"] {
            let name = format!("{server}__refuse");
            for answer in [legacy.call(&name, &arguments), modern.call(&name, &arguments)] {
                let expected = json!({"code": code, "message": "no, thank you", "data": data});
                assert_eq!(answer["error"], expected, "{name}");
            }
        }
    }
}

#[test]
fn what_cannot_be_called_is_said_in_the_clients_terms() {
    let switchboard = Switchboard::with(&json!({"echo": fixture(&["echo"])}));
    let gateway = Gateway::with_tool(&switchboard, &[], "echo__echo");
    let legacy = gateway.legacy(NEWEST_LEGACY);
    let modern = gateway.modern();
    for (name, arguments) in [("echo__ecco", json!({})), ("echo", json!({"text": "a"}))] {
        for answer in [legacy.call(name, &arguments), modern.call(name, &arguments)] {
            let error = &answer["error"];
            assert_eq!(error["code"], -32602, "{answer}");
            assert!(error["message"].as_str().unwrap().contains(name), "{answer}");
        }
    }
    for answer in [
        legacy.call("echo__echo", &json!({"text": 1})),
        modern.call("echo__echo", &json!({"text": 1})),
    ] {
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        assert!(answer_text(&answer).contains("`/text` must be a string"), "{answer}");
    }
    let missing = json!({"uri": "test://nowhere"});
    let old = legacy.ask("resources/read", &missing);
    let new = modern.ask("resources/read", &missing);
    assert_eq!([&old["error"]["code"], &new["error"]["code"]], [-32002, -32602]);
    assert_eq!(new["error"]["data"], missing);
    let nobody = json!({"name": "echo__nobody"});
    assert_eq!(legacy.ask("prompts/get", &nobody)["error"]["code"], -32602);
    assert_eq!(legacy.ask("no/such", &json!({}))["error"]["code"], -32601);
    assert_eq!(
        switchboard.recorded_calls(),
        ["tool echo/echo: not_sent (bad_arguments)", "tool echo/echo: not_sent (bad_arguments)"]
    );
}

#[test]
fn a_server_that_is_gone_keeps_its_tools_and_its_calls_fail_at_once_with_the_reason() {
    let remote = HttpFixture::start(&["echo", "--transport", "http"]);
    let switchboard = Switchboard::with(&json!({
        "remote": {"url": remote.url},
        "here": fixture(&["echo"]),
    }));
    let gateway = Gateway::with_tool(&switchboard, &[], "remote__echo");
    let client = gateway.modern();
    assert_eq!(answer_text(&client.call("remote__echo", &json!({"text": "a"}))), "a");
    drop(remote);
    let started = Instant::now();
    for _ in 0..3 {
        let answer = client.call("remote__echo", &json!({"text": "b"}));
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        assert!(answer_text(&answer).contains("refused"), "{answer}");
    }
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    assert!(client.names("tools").contains(&"remote__echo".to_owned()));
    assert_eq!(answer_text(&client.call("here__echo", &json!({"text": "c"}))), "c");
}

#[test]
fn what_a_server_asks_reaches_a_legacy_client_as_a_request_and_a_modern_one_as_a_round() {
    let switchboard = Switchboard::with(&json!({
        "old": fixture(&["echo", "--era", "legacy"]),
        "new": fixture(&["echo", "--era", "modern"]),
    }));
    let gateway = Gateway::with_tool(&switchboard, &[], "old__ask");
    gateway.wait_for_tool("new__ask");
    let can = json!({"elicitation": {}});
    let legacy = Legacy::open(&gateway.url, NEWEST_LEGACY, &can);
    let mut modern = gateway.modern();
    modern.capabilities = can;
    let reply = json!({"action": "accept", "content": {"answer": "blue"}});
    for server in ["old", "new"] {
        let call = json!({"name": format!("{server}__ask"), "arguments": {"question": "Which?"}});
        let mut stream = legacy.send("tools/call", &call);
        let question = stream.next_message();
        assert_eq!(question["method"], "elicitation/create", "{server}: {question}");
        assert_eq!(question["params"]["message"], "Which?");
        let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": reply});
        assert_eq!(legacy.post(&answer).status, 202);
        assert_eq!(answer_text(&stream.next_message()), "blue", "{server}");

        let asked = modern.ask("tools/call", &call);
        let asked = &asked["result"];
        assert_eq!(asked["resultType"], "input_required", "{server}: {asked}");
        let (key, request) = asked["inputRequests"].as_object().unwrap().iter().next().unwrap();
        assert_eq!(request["method"], "elicitation/create");
        let mut again = call.clone();
        again["inputResponses"] = json!({key: reply});
        again["requestState"] = asked["requestState"].clone();
        assert_eq!(answer_text(&modern.ask("tools/call", &again)), "blue", "{server}");
        // A `requestState` is valid once, and only unchanged.
        for state in [asked["requestState"].clone(), json!("made up")] {
            again["requestState"] = state;
            assert_eq!(modern.ask("tools/call", &again)["error"]["code"], -32602);
        }
    }
}

#[test]
fn a_gateway_that_is_told_to_end_lets_calls_finish() {
    let switchboard = Switchboard::with(&json!({"echo": fixture(&["echo"])}));
    let gateway = Gateway::with_tool(&switchboard, &[], "echo__slow");
    let call = json!({
        "name": "echo__slow",
        "arguments": {"ms": 1500, "steps": 15},
        "_meta": {"progressToken": 1},
    });
    let mut reply = gateway.modern().send("tools/call", &call);
    assert_eq!(reply.next_message()["method"], "notifications/progress");
    gateway.running.signal("TERM");
    assert_eq!(answer_text(&reply.messages().pop().unwrap()), "slept 1500 ms");
    gateway.running.finish_within(Duration::from_secs(20)).expect(0);
    assert_eq!(switchboard.recorded_calls(), ["tool echo/slow: ok"]);
}

#[test]
fn a_client_that_cannot_answer_is_not_asked() {
    let switchboard =
        Switchboard::with(&json!({"new": fixture(&["conformance", "--era", "modern"])}));
    let gateway = Gateway::with_tool(&switchboard, &[], "new__test_sampling");
    let call = json!({"name": "new__test_sampling", "arguments": {"prompt": "?"}});
    let reply = gateway.modern().send("tools/call", &call);
    assert_eq!(reply.status, 400);
    let answer = reply.messages().pop().unwrap();
    assert_eq!(answer["error"]["code"], -32021);
    assert_eq!(answer["error"]["data"], json!({"requiredCapabilities": {"sampling": {}}}));
}

#[test]
fn a_call_that_needs_approval_is_put_to_the_client_and_to_every_other_terminal() {
    let switchboard = Switchboard::with(&json!({"echo": fixture(&["echo"])}));
    let gateway = Gateway::with_tool(&switchboard, &["--review", "ask"], "echo__echo");
    let can = json!({"elicitation": {"form": {}}});
    let legacy = Legacy::open(&gateway.url, NEWEST_LEGACY, &can);
    let mut modern = gateway.modern();
    modern.capabilities = can;
    let call = json!({"name": "echo__echo", "arguments": {"text": "hello"}});
    for (content, expected) in [
        (json!({"answer": "run"}), "hello"),
        (json!({"answer": "reject", "instead": "be quiet"}), "be quiet"),
    ] {
        let reply = json!({"action": "accept", "content": content});
        let mut stream = legacy.send("tools/call", &call);
        let question = stream.next_message();
        let message = question["params"]["message"].as_str().unwrap();
        assert!(message.contains("`echo`") && message.contains(r#"{"text":"hello"}"#), "{message}");
        let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": reply});
        assert_eq!(legacy.post(&answer).status, 202);
        assert!(answer_text(&stream.next_message()).contains(expected), "{expected}");

        let asked = modern.ask("tools/call", &call)["result"].clone();
        assert_eq!(asked["resultType"], "input_required", "{asked}");
        let key = asked["inputRequests"].as_object().unwrap().keys().next().unwrap();
        let mut again = call.clone();
        again["inputResponses"] = json!({key: reply});
        again["requestState"] = asked["requestState"].clone();
        assert!(answer_text(&modern.ask("tools/call", &again)).contains(expected), "{expected}");
    }

    // The question of a client without elicitation waits for an answer from elsewhere.
    let url = gateway.url.clone();
    let waiting = std::thread::spawn(move || {
        let silent = Legacy::open(&url, NEWEST_LEGACY, &json!({}));
        silent.call("echo__echo", &json!({"text": "from elsewhere"}))
    });
    let listed = || switchboard.json(&["review"]).get(0).cloned();
    let entry = poll(TEST_TIMEOUT, listed).expect("the question waits in the queue");
    let id = entry["id"].as_str().unwrap();
    switchboard.run(&["review", "answer", id, "run"]).expect(0);
    assert_eq!(answer_text(&waiting.join().unwrap()), "from elsewhere");
}
