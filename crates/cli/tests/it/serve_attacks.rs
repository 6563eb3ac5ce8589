//! Attacks on the gateway's HTTP surface; a test's name begins with its row of the list of attacks.

use std::path::Path;

use serde_json::{Value, json};
use switchboard_testkit::HttpFixture;

use crate::serve_client::{Request, ServingGateway, greeting, message, modern, tool_call};
use crate::switchboard::{Switchboard, fixture};

/// Returns a gateway in front of a server that traces its requests.
fn traced_gateway() -> (Switchboard, ServingGateway) {
    let switchboard = Switchboard::new();
    let trace = switchboard.text_path("trace");
    switchboard.configure(&json!({"one": fixture(&["echo", "--trace", &trace])}));
    let serving = ServingGateway::start(&switchboard, &[]);
    serving.wait_for_tool(None, "one__write");
    (switchboard, serving)
}

fn calls_that_arrived(trace: &Path) -> usize {
    let heard = std::fs::read_to_string(trace).unwrap_or_default();
    heard.lines().filter(|line| line.contains("tools/call")).count()
}

/// Returns one request for every endpoint.
fn every_place() -> Vec<Request> {
    vec![
        tool_call(None, "one__write", &json!({"key": "x"})),
        greeting(),
        Request::new("GET", "/mcp").with("Accept", "text/event-stream"),
        Request::new("DELETE", "/mcp"),
        Request::new("GET", "/sse").with("Accept", "text/event-stream"),
        message(&json!({"jsonrpc": "2.0", "id": 1, "method": "ping"})).at("/messages?session=x"),
        Request::new("GET", "/.well-known/oauth-protected-resource"),
        Request::new("GET", "/.well-known/oauth-protected-resource/mcp"),
        Request::new("GET", "/"),
        Request::new("GET", "/health"),
        Request::new("OPTIONS", "/nowhere"),
        Request::new("OPTIONS", "/mcp"),
        Request::new("PUT", "/messages"),
    ]
}

#[test]
fn lb_01_a_request_for_another_host_is_refused_at_every_place() {
    let (switchboard, serving) = traced_gateway();
    for request in every_place() {
        let reply = serving.send(&request.clone().with("Host", "evil.example"));
        assert_eq!(reply.status, 403, "{}", request.text(1));
    }
    assert_eq!(calls_that_arrived(&switchboard.path("trace")), 0);
}

#[test]
fn lb_02_a_page_of_another_origin_is_refused_at_every_place() {
    let (switchboard, serving) = traced_gateway();
    for origin in ["https://evil.example", "null", "http://localhost.evil.example", "file://"] {
        for request in every_place() {
            let reply = serving.send(&request.clone().with("Origin", origin));
            assert_eq!(reply.status, 403, "{origin} {}", request.text(1));
        }
    }
    assert_eq!(calls_that_arrived(&switchboard.path("trace")), 0);
    let ours = tool_call(None, "one__write", &json!({"key": "x"}))
        .with("Origin", &format!("http://localhost:{}", serving.port));
    assert_eq!(serving.send(&ours).status, 200);
}

#[test]
fn lb_05_a_form_or_text_that_any_page_can_post_has_no_effect() {
    let (switchboard, serving) = traced_gateway();
    let call = tool_call(None, "one__write", &json!({"key": "x"})).without("Content-Type");
    for kind in
        ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""]
    {
        for path in ["/mcp", "/messages?session=x"] {
            let request = call.clone().with("Content-Type", kind).at(path);
            assert_eq!(serving.send(&request).status, 415, "{kind} {path}");
        }
    }
    assert_eq!(serving.send(&call).status, 415);
    assert_eq!(calls_that_arrived(&switchboard.path("trace")), 0);
}

#[test]
fn lb_09_hosts_that_only_look_like_ours_are_refused() {
    let (switchboard, serving) = traced_gateway();
    let port = serving.port;
    let call = tool_call(None, "one__write", &json!({"key": "x"}));
    let local = format!("127.0.0.1:{port}");
    let elsewhere = format!("http://evil.example:{port}/mcp");
    for request in [
        call.clone().with("Host", &format!("{local}.evil.example")),
        call.clone().with("Host", "localhost."),
        call.clone().with("Host", &format!("0.0.0.0:{port}")),
        call.clone().with("Host", &local).with("Host", "evil.example"),
        call.clone().with("Host", "evil.example").with("Host", &local),
        call.clone().with("Host", &local).at(&elsewhere),
        call.clone().with("Host", "evil.example").at(&format!("http://{local}/mcp")),
        call.clone().with("Host", "evil.example").at(&elsewhere),
    ] {
        let reply = serving.send(&request);
        // The HTTP parser rejects malformed requests with 400.
        assert!([400, 403].contains(&reply.status), "{} {reply:?}", request.text(port));
    }
    assert_eq!(calls_that_arrived(&switchboard.path("trace")), 0);
    let agreed = call.clone().with("Host", &local).at(&format!("http://{local}/mcp"));
    assert_eq!(serving.send(&agreed).status, 200);
}

#[test]
fn lb_10_a_stream_is_not_opened_for_a_page_of_another_origin_or_for_a_cookie() {
    let switchboard = Switchboard::with(&json!({"one": fixture(&["echo"])}));
    let known = crate::serve_tokens::token(&switchboard, &["known"]);
    let serving = ServingGateway::start(&switchboard, &["--require-token"]);
    for path in ["/mcp", "/sse"] {
        let stream = Request::new("GET", path).with("Accept", "text/event-stream");
        let foreign = stream.clone().token(&known).with("Origin", "https://evil.example");
        assert_eq!(serving.send(&foreign).status, 403, "{path}");
        let cookie = stream.clone().with("Cookie", &format!("token={known}"));
        assert_eq!(serving.send(&cookie).status, 401, "{path}");
        let socket = stream.with("Upgrade", "websocket").with("Origin", "https://evil.example");
        assert_eq!(serving.send(&socket).status, 403, "{path}");
    }
}

/// Returns a call whose header and body disagree.
fn with_header(name: &str, value: Option<&str>) -> Request {
    let call = tool_call(None, "one__write", &json!({"key": "x"})).without(name);
    match value {
        Some(value) => call.with(name, value),
        None => call,
    }
}

#[test]
fn hd_01_a_header_that_names_another_tool_than_the_body_is_refused() {
    let (switchboard, serving) = traced_gateway();
    for value in ["one__echo", "one__WRITE", "=?base64?b25lX19lY2hv?=", "=?base64?!?=", ""] {
        let reply = serving.send(&with_header("Mcp-Name", Some(value)));
        assert_eq!(
            (reply.status, &reply.json()["error"]["code"]),
            (400, &json!(-32_020)),
            "{value}"
        );
    }
    assert_eq!(calls_that_arrived(&switchboard.path("trace")), 0);
    let encoded = with_header("Mcp-Name", Some("=?base64?b25lX193cml0ZQ==?="));
    assert_eq!(serving.send(&encoded).status, 200);
}

#[test]
fn hd_02_a_header_that_is_missing_doubled_or_of_another_case_is_refused() {
    let (switchboard, serving) = traced_gateway();
    let call = with_header("x", None);
    let mut cases: Vec<Request> = ["Mcp-Method", "Mcp-Name", "MCP-Protocol-Version"]
        .iter()
        .map(|name| with_header(name, None))
        .collect();
    cases.push(with_header("Mcp-Method", Some("Tools/Call")));
    cases.push(with_header("Mcp-Method", Some("tools/list")));
    cases.push(call.clone().with("Mcp-Method", "tools/call"));
    cases.push(call.clone().with("Mcp-Method", "tools/list"));
    cases.push(call.clone().with("Mcp-Name", "one__echo"));
    cases.push(call.with("MCP-Protocol-Version", "2025-11-25"));
    for request in cases {
        let reply = serving.send(&request);
        assert_eq!(
            (reply.status, &reply.json()["error"]["code"]),
            (400, &json!(-32_020)),
            "{}",
            request.text(1)
        );
    }
    assert_eq!(calls_that_arrived(&switchboard.path("trace")), 0);
}

#[test]
fn se_04_what_one_caller_read_is_asked_for_again_by_the_next() {
    let folder = switchboard_testkit::Home::new();
    let trace = folder.path().join("trace");
    let upstream =
        HttpFixture::start(&["echo", "--transport", "http", "--trace", trace.to_str().unwrap()]);
    let switchboard = Switchboard::with(&json!({"one": {"url": upstream.url}}));
    let tokens = ["a", "b"].map(|name| crate::serve_tokens::token(&switchboard, &[name]));
    let serving = ServingGateway::start(&switchboard, &["--require-token"]);
    serving.wait_for_tool(Some(&tokens[0]), "one__echo");
    let listed = serving.ask(Some(&tokens[0]), "resources/list", json!({}));
    let resources = listed["result"]["resources"].as_array().unwrap();
    let own = resources.iter().filter_map(|one| one["uri"].as_str());
    let uri = own.into_iter().find(|uri| !uri.starts_with("switchboard:")).unwrap().to_owned();
    for known in &tokens {
        let read = serving.send(&modern(Some(known), "resources/read", json!({"uri": uri})));
        assert!(read.json()["result"]["contents"].is_array(), "{read:?}");
        // Contents are always private, so that no shared cache stores them.
        assert_eq!(read.json()["result"]["cacheScope"], "private");
    }
    let heard = std::fs::read_to_string(trace).unwrap();
    let reads = heard.lines().filter(|line| {
        let request: Value = serde_json::from_str(line).unwrap_or_default();
        request["body"].as_str().is_some_and(|body| body.contains(r#""resources/read""#))
    });
    assert_eq!(reads.count(), 2);
}
