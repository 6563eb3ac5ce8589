//! Tests of the gateway over HTTP: sessions of the legacy era, single requests of the modern one,
//! and the transport of the first revision.

use serde_json::{Value, json};

use crate::gateway::{Gateway, MODERN, NEWEST_LEGACY, answer_text};
use crate::http_client::send;
use crate::switchboard::{Switchboard, fixture};

/// A name, a message and its headers, and the expected HTTP status and error code.
type Case<'a> = (&'a str, &'a Value, &'a [(&'a str, &'a str)], u16, i64);

fn echo() -> Switchboard {
    Switchboard::with(&json!({"echo": fixture(&["echo"])}))
}

#[test]
fn a_legacy_session_opens_works_and_is_gone_after_its_end() {
    let switchboard = echo();
    let gateway = Gateway::with_tool(&switchboard, &[], "echo__echo");
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let client = gateway.legacy(revision);
        let greeting = &client.greeting["result"];
        assert_eq!(greeting["protocolVersion"], revision);
        assert_eq!(greeting["serverInfo"]["name"], "switchboard");
        assert!(greeting["capabilities"]["tools"]["listChanged"] == true, "{greeting}");
        assert!(client.session.bytes().all(|byte| (0x21..=0x7e).contains(&byte)));
        assert!(client.names("tools").contains(&"echo__add".to_owned()));
        let echoed = client.call("echo__echo", &json!({"text": "grüß dich"}));
        assert_eq!(answer_text(&echoed), "grüß dich");
        assert_eq!(client.ask("ping", &json!({}))["result"], json!({}));
        assert!(client.listen().is_stream());
        assert_eq!(client.leave(), 204);
        for after in [client.send("tools/list", &json!({})), client.listen()] {
            assert_eq!(after.status, 404, "{revision}");
        }
    }
    let unknown = gateway.legacy("2019-01-01");
    assert_eq!(unknown.greeting["result"]["protocolVersion"], NEWEST_LEGACY);
    let nobody = send("GET", &gateway.url, &[("Accept", "text/event-stream")], "");
    assert_eq!(nobody.status, 405);
}

#[test]
fn a_modern_request_stands_alone_and_its_headers_are_checked() {
    let switchboard = echo();
    let gateway = Gateway::with_tool(&switchboard, &[], "echo__echo");
    let client = gateway.modern();
    let discovered = client.ask("server/discover", &json!({}));
    assert_eq!(discovered["result"]["supportedVersions"], json!([MODERN]));
    let listed = client.ask("tools/list", &json!({}));
    assert_eq!(listed["result"]["resultType"], "complete");
    assert!(listed["result"]["ttlMs"].is_u64() && listed["result"]["cacheScope"].is_string());
    assert_eq!(answer_text(&client.call("echo__echo", &json!({"text": "a"}))), "a");

    let call = client.with_meta(&json!({"name": "echo__echo", "arguments": {"text": "a"}}));
    let mut another = call.clone();
    another["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2030-01-01");
    let mut incapable = call.clone();
    let meta = incapable["_meta"].as_object_mut().unwrap();
    meta.remove("io.modelcontextprotocol/clientCapabilities");
    let whole: &[(&str, &str)] = &[
        ("MCP-Protocol-Version", MODERN),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", "echo__echo"),
    ];
    let encoded = [whole[0], whole[1], ("mcp-name", "=?base64?ZWNob19fZWNobw==?=")];
    let wrong_name = [whole[0], whole[1], ("Mcp-Name", "echo__add")];
    let wrong_method = [whole[0], ("Mcp-Method", "tools/list"), whole[2]];
    let no_method = [whole[0], whole[2]];
    let old = [("MCP-Protocol-Version", NEWEST_LEGACY), whole[1], whole[2]];
    let future = [("MCP-Protocol-Version", "2030-01-01"), whole[1], whole[2]];
    let cases: [Case<'_>; 9] = [
        ("all is well", &call, whole, 200, 0),
        ("a name in base64", &call, &encoded, 200, 0),
        ("another name", &call, &wrong_name, 400, -32020),
        ("another method", &call, &wrong_method, 400, -32020),
        ("no method", &call, &no_method, 400, -32020),
        ("another revision in the header", &call, &old, 400, -32020),
        ("another revision in the body", &another, whole, 400, -32020),
        ("a revision that nobody knows", &another, &future, 400, -32022),
        ("no capabilities", &incapable, whole, 400, -32602),
    ];
    for (what, params, headers, status, code) in cases {
        let body = json!({"jsonrpc": "2.0", "id": "x", "method": "tools/call", "params": params});
        let usual = [
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
        ];
        let reply = send("POST", &gateway.url, &[&usual, headers].concat(), &body.to_string());
        let got = reply.status;
        let answer = reply.messages().pop().unwrap();
        assert_eq!(answer["id"], "x", "{what}: {answer}");
        assert_eq!(
            (got, answer["error"]["code"].as_i64().unwrap_or(0)),
            (status, code),
            "{what}: {answer}"
        );
        if code == -32022 {
            let data = json!({"supported": [MODERN], "requested": "2030-01-01"});
            assert_eq!(answer["error"]["data"], data);
        }
    }
    let unknown = client.send("no/such", &json!({}));
    assert_eq!(unknown.status, 404);
    assert_eq!(unknown.messages().pop().unwrap()["error"]["code"], -32601);
}

#[test]
fn a_client_of_the_first_revision_gets_its_answers_on_one_stream() {
    let switchboard = echo();
    let gateway = Gateway::with_tool(&switchboard, &[], "echo__echo");
    let mut stream = send("GET", &gateway.place("/sse"), &[("Accept", "text/event-stream")], "");
    let (kind, place) = stream.next_event().unwrap();
    assert_eq!(kind, "endpoint");
    let place = gateway.place(&place);
    let post = |body: &Value| {
        let headers = [("Content-Type", "application/json")];
        let reply = send("POST", &place, &headers, &body.to_string());
        assert_eq!(reply.status, 202);
    };
    post(&json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2024-11-05", "capabilities": {},
        "clientInfo": {"name": "old", "version": "0"},
    }}));
    assert_eq!(stream.next_of_a_request()["result"]["protocolVersion"], "2024-11-05");
    post(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    post(&json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
        "name": "echo__slow", "arguments": {"ms": 20, "steps": 2}, "_meta": {"progressToken": "p"},
    }}));
    let [first, second, answer] = std::array::from_fn(|_| stream.next_of_a_request());
    for (number, report) in [(1, first), (2, second)] {
        let params = json!({"progressToken": "p", "progress": number, "total": 2});
        assert_eq!(
            (&report["method"], &report["params"]),
            (&json!("notifications/progress"), &params)
        );
    }
    assert_eq!((&answer["id"], answer_text(&answer)), (&json!(2), "slept 20 ms"));
    let headers = [("Content-Type", "application/json")];
    let elsewhere = send("POST", &gateway.place("/messages?session=none"), &headers, "{}");
    assert_eq!(elsewhere.status, 404);
}

#[test]
fn only_the_revision_that_has_batches_gets_them_answered() {
    let switchboard = echo();
    let gateway = Gateway::with_tool(&switchboard, &[], "echo__echo");
    let call = |id: u64, text: &str| {
        let params = json!({"name": "echo__echo", "arguments": {"text": text}});
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
    };
    let notice = json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"});
    let batch = json!([call(1, "one"), notice, call(2, "two")]);
    let reply = gateway.legacy("2025-03-26").post(&batch);
    assert_eq!(reply.status, 200);
    let mut answers: Vec<(u64, String)> = reply
        .messages()
        .iter()
        .flat_map(|message| message.as_array().cloned().unwrap_or_else(|| vec![message.clone()]))
        .map(|answer| (answer["id"].as_u64().unwrap(), answer_text(&answer).to_owned()))
        .collect();
    answers.sort_unstable();
    assert_eq!(answers, [(1, "one".to_owned()), (2, "two".to_owned())]);
    assert_eq!(gateway.legacy("2025-03-26").post(&json!([notice])).status, 202);
    assert_eq!(gateway.legacy("2025-06-18").post(&batch).status, 400);
}

#[test]
fn a_page_of_another_origin_is_not_let_in() {
    let switchboard = echo();
    let gateway = Gateway::start(&switchboard, &["--allow-origin", "https://pages.example"]);
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": NEWEST_LEGACY, "capabilities": {},
        "clientInfo": {"name": "page", "version": "0"},
    }});
    let cases: [(&[(&str, &str)], u16); 5] = [
        (&[], 200),
        (&[("Origin", "http://localhost:3000")], 200),
        (&[("Origin", "https://pages.example")], 200),
        (&[("Origin", "https://evil.example")], 403),
        (&[("Host", "evil.example")], 403),
    ];
    for (headers, status) in cases {
        let headers = [&[("Content-Type", "application/json")], headers].concat();
        let reply = send("POST", &gateway.url, &headers, &body.to_string());
        assert_eq!(reply.status, status, "{headers:?}");
        let asked = send("GET", &gateway.place("/sse"), &headers, "");
        assert_eq!(asked.status, status, "{headers:?}");
    }
    let text = [("Content-Type", "text/plain")];
    assert_eq!(send("POST", &gateway.url, &text, &body.to_string()).status, 415);
}
