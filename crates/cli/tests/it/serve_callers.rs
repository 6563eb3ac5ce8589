//! Tests of concurrent callers: answers never cross, and no caller can take over another's work.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::serve_client::{Request, ServingGateway, greeting, message, modern, tool_call, until};
use crate::serve_tokens::token;
use crate::switchboard::{Switchboard, fixture};

/// Number of pairs of requests with the same id at the same time.
const PAIRS: usize = 10_000;
/// Number of pairs in flight at the same time.
const LANES: usize = 8;

/// Reads one response from a connection that stays open.
fn answer(reader: &mut BufReader<TcpStream>) -> Value {
    let mut line = String::new();
    let mut length = 0;
    loop {
        line.clear();
        reader.read_line(&mut line).unwrap();
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    serde_json::from_slice(&body).unwrap()
}

#[test]
fn se_01_answers_to_the_same_id_never_cross() {
    let switchboard = Switchboard::with(&json!({"one": fixture(&["echo"])}));
    let serving = ServingGateway::start(&switchboard, &["--no-record"]);
    serving.wait_for_tool(None, "one__echo");
    std::thread::scope(|scope| {
        for client in 0..2 * LANES {
            let serving = &serving;
            scope.spawn(move || {
                let stream = serving.connect();
                let mut writer = stream.try_clone().unwrap();
                let mut reader = BufReader::new(stream);
                for round in 0..PAIRS / LANES {
                    let text = format!("client {client}, round {round}");
                    let call = tool_call(None, "one__echo", &json!({"text": text}))
                        .with("Connection", "keep-alive");
                    writer.write_all(call.text(serving.port).as_bytes()).unwrap();
                    let answer = answer(&mut reader);
                    let got = (&answer["id"], &answer["result"]["content"][0]["text"]);
                    assert_eq!(got, (&json!(1), &json!(text)));
                }
            });
        }
    });
}

#[test]
fn se_03_a_call_that_waits_is_taken_up_only_by_its_own_caller_and_only_once() {
    let switchboard = Switchboard::with(&json!({"one": fixture(&["echo", "--era", "modern"])}));
    let mine = token(&switchboard, &["mine"]);
    let yours = token(&switchboard, &["yours"]);
    let serving = ServingGateway::start(&switchboard, &["--require-token"]);
    serving.wait_for_tool(Some(&mine), "one__ask");
    let call = json!({"name": "one__ask", "arguments": {"question": "Which one?"}});
    let asked = serving.ask(Some(&mine), "tools/call", call.clone());
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    let state = asked["result"]["requestState"].as_str().unwrap();
    let keys = asked["result"]["inputRequests"].as_object().unwrap().keys();
    let given = json!({"action": "accept", "content": {"answer": "this one"}});
    let responses: Value = keys.map(|key| (key.clone(), given.clone())).collect();
    let with = |arguments: Value, state: &str| {
        let mut call = call.clone();
        call["arguments"] = arguments;
        call["requestState"] = json!(state);
        call["inputResponses"] = responses.clone();
        call
    };
    let same = json!({"question": "Which one?"});
    let back =
        |token: &str, call: Value| serving.send(&modern(Some(token), "tools/call", call)).json();
    for refused in [
        back(&yours, with(same.clone(), state)),
        back(&mine, with(json!({"question": "Another one?"}), state)),
        back(&mine, with(same.clone(), &format!("{state}x"))),
    ] {
        assert_eq!(refused["error"]["code"], -32_602, "{refused}");
    }
    let answered = back(&mine, with(same.clone(), state));
    assert_eq!(answered["result"]["content"][0]["text"], "this one", "{answered}");
    let again = back(&mine, with(same, state));
    assert_eq!(again["error"]["code"], -32_602, "{again}");
}

#[test]
fn nobody_hears_what_a_server_says_about_the_calls_of_others() {
    let switchboard =
        Switchboard::with(&json!({"srv": fixture(&["conformance", "--era", "legacy"])}));
    let [a, b, c] = ["a", "b", "c"].map(|name| token(&switchboard, &[name]));
    let serving = ServingGateway::start(&switchboard, &["--require-token"]);
    let tool = "srv__test_tool_with_logging";
    serving.wait_for_tool(Some(&a), tool);
    let call = |token: &str| {
        let params = json!({"name": tool, "arguments": {}});
        let mut request = modern(Some(token), "tools/call", params);
        let mut body: Value = serde_json::from_str(request.body_text()).unwrap();
        body["params"]["_meta"]["io.modelcontextprotocol/logLevel"] = json!("debug");
        request = request.body(&body);
        serving.send(&request).body.matches("notifications/message").count()
    };
    // With a single caller, all messages are its own.
    let own = 3;
    until(|| call(&a) == own);
    // A legacy client that subscribes to every log level.
    let opened = serving.send(&greeting().token(&c));
    let session = opened.header("mcp-session-id").unwrap().to_owned();
    let level = json!({"jsonrpc": "2.0", "id": 2, "method": "logging/setLevel",
        "params": {"level": "debug"}});
    let level = message(&level).with("Mcp-Session-Id", &session).token(&c);
    assert_eq!(serving.send(&level).status, 200);
    let listening = Request::new("GET", "/mcp").with("Mcp-Session-Id", &session).token(&c);
    let mut heard = serving.open(&listening.with("Accept", "text/event-stream"));
    std::thread::scope(|scope| {
        let others: Vec<_> =
            (0..3).map(|_| scope.spawn(|| (0..3).map(|_| call(&b)).max().unwrap())).collect();
        // With concurrent callers, each receives only its own messages.
        assert!((0..3).map(|_| call(&a)).max().unwrap() <= own);
        // Concurrent calls of one caller may see each other's messages.
        for other in others {
            other.join().unwrap();
        }
    });
    until(|| call(&a) == own);
    serving.signal("TERM");
    assert_eq!(heard.line_with("Tool execution"), None, "these were all said about calls");
}

#[test]
fn what_was_allowed_for_a_session_is_not_allowed_to_somebody_else_of_the_same_name() {
    let switchboard = Switchboard::with(&json!({"one": fixture(&["echo"])}));
    let first = token(&switchboard, &["ada"]);
    let serving = ServingGateway::start(&switchboard, &["--require-token", "--review", "ask"]);
    serving.wait_for_tool(Some(&first), "one__echo");
    let call = json!({"name": "one__echo", "arguments": {"text": "hello"}});
    let ask = |token: &str, call: &Value| {
        serving.ask(Some(token), "tools/call", call.clone())["result"].clone()
    };
    let asked = ask(&first, &call);
    let key = asked["inputRequests"].as_object().unwrap().keys().next().unwrap();
    let mut yes = call.clone();
    yes["inputResponses"] = json!({key: {"action": "accept", "content": {"answer": "session"}}});
    yes["requestState"] = asked["requestState"].clone();
    for call in [yes, call.clone()] {
        assert_eq!(ask(&first, &call)["content"][0]["text"], "hello");
    }
    switchboard.run(&["tokens", "revoke", "ada"]).expect(0);
    let second = token(&switchboard, &["ada"]);
    serving.wait_for_tool(Some(&second), "one__echo");
    assert_eq!(ask(&second, &call)["resultType"], "input_required");
}
