//! Attacks on the gateway outside the list of attacks: variations of those in it.

use std::io::{Read as _, Write as _};

use serde_json::{Value, json};

use crate::gateway::Gateway;
use crate::serve_client::{
    Reply, Request, ServingGateway, greeting, message, modern, tool_call, until,
};
use crate::serve_tokens::token;
use crate::speakers::{Speaker, Sse};
use crate::switchboard::{Switchboard, fixture};

/// A gateway in front of a server that traces its requests, with a count of the calls that arrived.
struct WatchedGateway {
    switchboard: Switchboard,
    serving: ServingGateway,
}

impl WatchedGateway {
    fn start(options: &[&str]) -> Self {
        let switchboard = Switchboard::new();
        let trace = switchboard.text_path("trace");
        switchboard.configure(&json!({"one": fixture(&["echo", "--trace", &trace])}));
        let serving = ServingGateway::start(&switchboard, options);
        Self { switchboard, serving }
    }

    fn arrival_count(&self) -> usize {
        let heard = std::fs::read_to_string(self.switchboard.path("trace")).unwrap_or_default();
        heard.lines().filter(|line| line.contains("tools/call")).count()
    }
}

fn write() -> Request {
    tool_call(None, "one__write", &json!({"key": "x"}))
}

#[test]
fn lb_09_hosts_and_origins_that_a_page_could_bring_are_refused() {
    let watched = WatchedGateway::start(&[]);
    watched.serving.wait_for_tool(None, "one__write");
    let port = watched.serving.port;
    for host in [
        "localhost.evil.example",
        "127.0.0.1.nip.io",
        "[::ffff:127.0.0.1]",
        "LOCALHOST.",
        "127.1",
        "2130706433",
        "localhost:80@evil.example",
        "localhost, evil.example",
        "localhost:+80",
        "",
    ] {
        for host in [host.to_owned(), format!("{host}:{port}")] {
            let reply = watched.serving.send(&write().with("Host", &host));
            assert!([400, 403].contains(&reply.status), "{host}: {reply:?}");
        }
    }
    for origin in [
        "null",
        "http://localhost.evil.example",
        "http://evil.example:80@localhost",
        "http://localhost@evil.example",
        "https://127.0.0.1.nip.io",
        "http://[::ffff:127.0.0.1]",
        "javascript://localhost",
        "chrome-extension://localhost",
        "http://localhost/",
        "localhost",
        "",
    ] {
        let reply = watched.serving.send(&write().with("Origin", origin));
        assert_eq!(reply.status, 403, "{origin}");
    }
    let doubled = write()
        .with("Origin", &format!("http://localhost:{port}"))
        .with("Origin", "https://evil.example");
    assert_eq!(watched.serving.send(&doubled).status, 403);
    assert_eq!(watched.arrival_count(), 0);
    let ours = write().with("Host", &format!("LocalHost:{port}"));
    assert_eq!(watched.serving.send(&ours).status, 200);
}

#[test]
fn lb_05_bodies_of_an_odd_kind_have_no_effect() {
    let watched = WatchedGateway::start(&[]);
    watched.serving.wait_for_tool(None, "one__write");
    let bare = write().without("Content-Type");
    for request in [
        bare.clone().with("Content-Type", "text/plain").with("Content-Type", "application/json"),
        bare.clone().with("Content-Type", "application/json, text/plain"),
        bare.clone().with("Content-Type", "application/json-patch+json"),
        bare.clone().with("Content-Type", "text/plain; x=application/json"),
        write().with("Content-Encoding", "gzip"),
        write().with("Content-Encoding", "identity").with("Content-Encoding", "br"),
    ] {
        assert_eq!(watched.serving.send(&request).status, 415, "{}", request.text(1));
    }
    for (verb, path) in [
        ("PUT", "/mcp"),
        ("PATCH", "/mcp"),
        ("TRACE", "/mcp"),
        ("OPTIONS", "/mcp"),
        ("HEAD", "/mcp"),
        ("POST", "/MCP"),
        ("POST", "/mcp/"),
        ("POST", "//mcp"),
        ("POST", "/mcp%2f"),
        ("POST", "/x/../mcp"),
        ("POST", "/sse"),
    ] {
        let mut text = write().at(path).text(watched.serving.port);
        text = text.replacen("POST", verb, 1);
        let mut stream = watched.serving.connect();
        stream.write_all(text.as_bytes()).unwrap();
        let mut answer = Vec::new();
        _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer);
        assert!(answer.starts_with("HTTP/1.1 40"), "{verb} {path}: {answer}");
        assert!(!answer.to_ascii_lowercase().contains("access-control-allow"), "{verb} {path}");
    }
    let other = write().with("X-HTTP-Method-Override", "DELETE");
    assert_eq!(watched.serving.send(&other).status, 200);
    assert_eq!(watched.arrival_count(), 1);
}

/// Sends raw bytes and returns the statuses of all responses.
fn statuses(serving: &ServingGateway, bytes: &str) -> Vec<u16> {
    let mut stream = serving.connect();
    stream.write_all(bytes.as_bytes()).unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut answer = Vec::new();
    _ = stream.read_to_end(&mut answer);
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let lines = answer.lines().filter_map(|line| line.strip_prefix("HTTP/1.1 "));
    lines.filter_map(|line| line.split(' ').next()?.parse().ok()).collect()
}

#[test]
fn lb_09_a_request_whose_length_is_told_in_two_ways_carries_no_other() {
    let watched = WatchedGateway::start(&[]);
    watched.serving.wait_for_tool(None, "one__write");
    let inner = write().text(watched.serving.port);
    let head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
    for told in [
        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        "Content-Length: 5\r\nContent-Length: 6\r\n",
        "Content-Length: 5, 6\r\n",
        "Content-Length: +5\r\n",
        "Content-Length: -5\r\n",
        "Transfer-Encoding: chunked, identity\r\n",
        "Transfer-Encoding: gzip\r\n",
        "Content-Length : 5\r\n",
        " Content-Length: 5\r\n",
    ] {
        let bytes = format!("{head}{told}\r\n0\r\n\r\n{inner}");
        let statuses = statuses(&watched.serving, &bytes);
        assert_eq!(statuses, [400], "{told}");
    }
    assert_eq!(watched.arrival_count(), 0);
}

/// Opens a session of a caller and returns its id.
fn session(serving: &ServingGateway, known: &str) -> String {
    let opened = serving.send(&greeting().token(known));
    opened.header("mcp-session-id").unwrap().to_owned()
}

#[test]
fn se_02_a_session_is_of_no_use_to_others_in_any_way_to_name_it() {
    let switchboard = Switchboard::with(&json!({"one": fixture(&["echo"])}));
    let mine = token(&switchboard, &["mine"]);
    let yours = token(&switchboard, &["yours"]);
    let serving = ServingGateway::start(&switchboard, &["--require-token"]);
    serving.wait_for_tool(Some(&mine), "one__echo");
    let own = session(&serving, &mine);
    let other = session(&serving, &yours);
    let ping = message(&json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}));
    let ping = |known: &str| ping.clone().token(known).with("MCP-Protocol-Version", "2025-11-25");
    let stream = Request::new("GET", "/mcp").with("Accept", "text/event-stream");
    let answer = message(&json!({"jsonrpc": "2.0", "id": 1, "result": {"action": "accept"}}));
    for (request, status) in [
        (ping(&mine).with("Mcp-Session-Id", &own), 200),
        (ping(&mine).with("Mcp-Session-Id", &other), 404),
        (ping(&mine).with("Mcp-Session-Id", &own).with("Mcp-Session-Id", &other), 400),
        (ping(&mine).with("Mcp-Session-Id", &format!("{own}, {other}")), 404),
        (ping(&mine).with("Mcp-Session-Id", &other.to_uppercase()), 404),
        (ping(&mine).with("Mcp-Session-Id", ""), 404),
        (stream.clone().token(&mine).with("Mcp-Session-Id", &other), 404),
        (
            stream.clone().token(&mine).with("Mcp-Session-Id", &other).with("Last-Event-ID", "0"),
            404,
        ),
        (stream.clone().token(&mine).with("Last-Event-ID", "0"), 405),
        (Request::new("DELETE", "/mcp").token(&mine).with("Mcp-Session-Id", &other), 404),
        (answer.clone().token(&mine).with("Mcp-Session-Id", &other), 404),
        (
            ping(&mine).without("MCP-Protocol-Version").at(&format!("/messages?session={other}")),
            404,
        ),
    ] {
        assert_eq!(serving.send(&request).status, status, "{}", request.text(1));
    }
    // The other caller's session has not ended.
    assert_eq!(serving.send(&ping(&yours).with("Mcp-Session-Id", &other)).status, 200);
}

#[test]
fn hd_02_a_request_that_says_two_things_about_its_revision_is_refused() {
    let watched = WatchedGateway::start(&[]);
    watched.serving.wait_for_tool(None, "one__write");
    let opened = watched.serving.send(&greeting());
    let own = opened.header("mcp-session-id").unwrap().to_owned();
    let plain = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "one__write", "arguments": {"key": "x"},
    }});
    let legacy = message(&plain).with("Mcp-Session-Id", &own);
    for request in [
        // The header indicates the modern era, the body and the session the legacy one.
        legacy.clone().with("MCP-Protocol-Version", "2026-07-28"),
        legacy.clone().with("MCP-Protocol-Version", "2026-07-28").with("Mcp-Method", "tools/list"),
        legacy.clone().with("MCP-Protocol-Version", "1999-01-01"),
        // The body indicates the modern era, the header the legacy one.
        write().without("MCP-Protocol-Version").with("MCP-Protocol-Version", "2025-11-25"),
        write()
            .without("MCP-Protocol-Version")
            .with("MCP-Protocol-Version", "2025-11-25")
            .with("Mcp-Session-Id", &own),
        write().with("Mcp-Session-Id", &own).with("Mcp-Method", "ping"),
        write().with("Mcp-Name", "one__write"),
        write().without("Mcp-Name").with("Mcp-Name", "one__write\t"),
        write().without("Mcp-Name").with("Mcp-Name", "=?BASE64?b25lX193cml0ZQ==?="),
        write().without("Mcp-Name").with("Mcp-Name", "=?base64?b25lX193cml0ZQ==?=x"),
    ] {
        let reply = watched.serving.send(&request);
        let is_padded = request.text(1).contains("one__write\t");
        // White space around a header value is not part of it.
        assert_eq!(reply.status, if is_padded { 200 } else { 400 }, "{}", request.text(1));
    }
    assert_eq!(watched.arrival_count(), 1);
}

#[test]
fn se_01_a_message_that_can_be_read_in_two_ways_is_refused() {
    let watched = WatchedGateway::start(&[]);
    watched.serving.wait_for_tool(None, "one__write");
    let body = write().body_text().to_owned();
    let send = |from: &str, to: &str| {
        assert!(body.contains(from), "{from}");
        watched.serving.send(&write().raw_body(body.replacen(from, to, 1)))
    };
    for (from, to) in [
        (r#""id":1"#, r#""id":{"a":1}"#),
        (r#""id":1"#, r#""id":[1]"#),
        (r#""id":1"#, r#""id":true"#),
        (r#""id":1"#, r#""id":1,"id":2"#),
        (r#""method":"tools/call""#, r#""method":"tools/list","method":"tools/call""#),
        (r#""jsonrpc":"2.0""#, r#""jsonrpc":"2.0","params":{}"#),
        (r#""name":"one__write""#, r#""name":"one__echo","name":"one__write""#),
        (r#""key":"x""#, r#""key":"x","key":"y""#),
        (r#""arguments":{"#, r#""arguments":{},"arguments":{"#),
        ("{", "\u{feff}{"),
        ("{", "[{"),
        ("{", ""),
    ] {
        let reply = send(from, to);
        let refused = reply.status == 400 || {
            let answer = reply.json();
            answer.get("error").is_some() || answer["result"]["isError"] == true
        };
        assert!(refused, "{from} as {to}: {reply:?}");
    }
    assert_eq!(watched.arrival_count(), 0);
    for id in [r#""a\nb""#, "-7", "1.5", "123456789012345678901234567890"] {
        let reply = send(r#""id":1"#, &format!(r#""id":{id}"#));
        assert!(reply.body.contains(&format!(r#""id":{id},"#)), "{id}: {reply:?}");
        assert_eq!(reply.status, 200);
    }
}

#[test]
fn texts_that_end_lines_end_no_event_of_a_stream() {
    let switchboard = Switchboard::with(&json!({
        "echo": fixture(&["echo"]), "raw": fixture(&["conformance"]),
    }));
    let gateway = Gateway::with_tool(&switchboard, &[], "raw__raw");
    gateway.wait_for_tool("echo__slow");
    let token = "x\n\ndata: {}\r\nid: 7\n\nevent: endpoint\ndata: /evil\n\n";
    let call = json!({
        "name": "echo__slow", "arguments": {"ms": 10, "steps": 2}, "_meta": {"progressToken": token},
    });
    let mut client = Sse::new(&gateway);
    let heard = client.say("tools/call", &call, &Value::Null);
    assert_eq!(heard.count("notifications/progress"), 2, "{heard:?}");
    let reports = heard.before.iter().filter(|it| it["method"] == "notifications/progress");
    for report in reports {
        assert_eq!(report["params"]["progressToken"], token);
    }
    // Between the parts of a result, a server may use three kinds of line breaks.
    let result = "{\"content\":\r[{\"type\":\"text\",\r\"text\":\"a\\ndata: b\"}]\r}";
    let call = json!({"name": "raw__raw", "arguments": {"result": result}});
    let answer = client.ask("tools/call", &call);
    assert_eq!(answer["result"]["content"][0]["text"], "a\ndata: b", "{answer}");
}

#[test]
fn bodies_that_are_deep_or_many_are_refused_and_the_gateway_goes_on() {
    let watched = WatchedGateway::start(&["--max-in-flight", "8"]);
    watched.serving.wait_for_tool(None, "one__echo");
    let deep = |count: usize| format!("{}{}", "[".repeat(count), "]".repeat(count));
    let post = |body: String| -> Reply {
        let mut request = message(&Value::Null).with("MCP-Protocol-Version", "2026-07-28");
        request = request.with("Mcp-Method", "tools/call").with("Mcp-Name", "one__echo");
        watched.serving.send(&request.raw_body(body))
    };
    let meta = modern(None, "x", json!({})).meta();
    for count in [200, 100_000, 1_000_000] {
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"one__echo","_meta":{meta},"arguments":{{"text":{}}}}}}}"#,
            deep(count)
        );
        let reply = post(body);
        let answer = reply.json();
        let refused = answer.get("error").is_some() || answer["result"]["isError"] == true;
        assert!(refused, "{count}: {reply:?}");
        assert!([200, 400].contains(&reply.status), "{count}: {reply:?}");
        // The body consists only of brackets.
        assert_eq!(post(deep(count)).status, 400, "{count}");
    }
    // A batch larger than the limit of calls in flight: none of it runs.
    let opened = watched.serving.send(&message(&json!({
        "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-03-26", "capabilities": {},
            "clientInfo": {"name": "many", "version": "1"},
        },
    })));
    let own = opened.header("mcp-session-id").unwrap().to_owned();
    let batch = |members: Vec<Value>| {
        let request = message(&Value::Array(members)).with("Mcp-Session-Id", &own);
        watched.serving.send(&request).status
    };
    let call = |id: usize| {
        let params = json!({"name": "one__write", "arguments": {"key": "x"}});
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
    };
    assert_eq!(batch((0..5_000).map(call).collect()), 429);
    assert_eq!(batch(Vec::new()), 400);
    assert_eq!(batch(vec![json!(7)]), 400);
    assert_eq!(batch(vec![call(1), json!([call(2)])]), 400);
    // An array is not a message, not even with the members of a message in order.
    assert_eq!(batch(vec![json!([1, "tools/call", call(1)["params"], null, null])]), 400);
    assert_eq!(watched.arrival_count(), 0);
    until(|| watched.serving.tools(None).contains(&"one__echo".to_owned()));
}

#[test]
fn lb_03_proof_that_comes_in_another_way_is_none() {
    let watched = WatchedGateway::start(&["--require-token"]);
    let known = token(&watched.switchboard, &["known"]);
    watched.serving.wait_for_tool(Some(&known), "one__write");
    for value in [
        format!("Bearer {known}, Bearer {known}"),
        format!("Bearer {known} x"),
        format!("Bearer\t{known}"),
        format!("bearer:{known}"),
        format!("Bearer \"{known}\""),
        format!("Token {known}"),
        format!("Bearer {}", known.replacen("sb_", "SB_", 1)),
        format!("Bearer {}", known.get(1..).unwrap()),
        format!("Bearer {known}\u{e9}"),
    ] {
        let reply = watched.serving.send(&write().with("Authorization", &value));
        assert_eq!(reply.status, 401, "{value}");
    }
    let twice = write().token(&known).token(&known);
    assert_eq!(watched.serving.send(&twice).status, 401);
    let elsewhere = write().with("X-Forwarded-Authorization", &format!("Bearer {known}"));
    assert_eq!(watched.serving.send(&elsewhere).status, 401);
    assert_eq!(watched.arrival_count(), 0);
    assert_eq!(watched.serving.send(&write().token(&known)).status, 200);
}
