//! Tests of `_meta` in requests of a client, which arrives at the server byte for byte.

use std::path::Path;

use serde_json::{Value, json};
use switchboard_testkit::HttpFixture;

use crate::gateway::{Gateway, MODERN, Modern, NEWEST_LEGACY, modern_params};
use crate::http_client::send;
use crate::switchboard::{Switchboard, fixture};

/// Members that concern only the client and the server, as they must arrive.
const OWN: &str = r#""traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01","a.example/x":{"n": 12345678901234567890.10, "big":1E300,"z":[ ]}"#;

/// Members that apply to one hop only.
const RESERVED: &str =
    r#""progressToken":"mine","io.modelcontextprotocol/unheard-of":1,"dev.mcp/x":2"#;

/// Returns the texts of the calls that arrived.
fn arrived_texts(trace: &Path) -> Vec<String> {
    let heard = std::fs::read_to_string(trace).unwrap_or_default();
    let bodies = heard.lines().filter_map(|line| {
        let line: Value = serde_json::from_str(line).ok()?;
        line["body"].as_str().map(str::to_owned)
    });
    bodies.filter(|body| body.contains("tools/call")).collect()
}

fn body(tool: &str, meta: &str) -> String {
    let params = format!(r#"{{"name":"{tool}","_meta":{{{meta}}},"arguments":{{"text":"t"}}}}"#);
    format!(r#"{{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{params}}}"#)
}

/// Returns the `_meta` of every modern request, without braces.
fn modern_meta() -> String {
    let meta = modern_params(&json!({}), &json!({}))["_meta"].to_string();
    let inner = meta.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    inner.unwrap().to_owned()
}

#[test]
fn the_meta_of_a_client_passes_untouched_to_servers_of_both_eras_over_every_transport() {
    let switchboard = Switchboard::new();
    let traces = ["old", "new", "far-old", "far-new"].map(|name| switchboard.path(name));
    let text = |number: usize| traces[number].to_str().unwrap().to_owned();
    let far = [(2, "legacy"), (3, "modern")].map(|(number, era)| {
        let trace = text(number);
        HttpFixture::start(&["echo", "--transport", "http", "--era", era, "--trace", &trace])
    });
    switchboard.configure(&json!({
        "old": fixture(&["echo", "--era", "legacy", "--trace", &text(0)]),
        "new": fixture(&["echo", "--era", "modern", "--trace", &text(1)]),
        "far-old": {"url": far[0].url},
        "far-new": {"url": far[1].url},
    }));
    let gateway = Gateway::start(&switchboard, &[]);
    for (number, server) in ["old", "new", "far-old", "far-new"].into_iter().enumerate() {
        let tool = format!("{server}__echo");
        gateway.wait_for_tool(&tool);
        let headers = Modern::headers("tools/call", &json!({"name": tool}));
        let headers: Vec<(&str, &str)> =
            headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let meta = format!("{RESERVED},{OWN},{}", modern_meta());
        let modern = send("POST", &gateway.url, &headers, &body(&tool, &meta));
        assert_eq!(modern.status, 200, "{server}");
        let answer = modern.messages().pop().unwrap();
        assert_eq!(answer["result"]["content"][0]["text"], "t", "{server} {answer}");
        let legacy = gateway.legacy(NEWEST_LEGACY);
        let said = body(&tool, &format!("{RESERVED},{OWN}"));
        let said = send("POST", &gateway.url, &legacy.headers(), &said).messages().pop().unwrap();
        assert_eq!(said["result"]["content"][0]["text"], "t", "{server} {said}");
        legacy.call(&tool, &json!({"text": "plain"}));
        let calls = arrived_texts(&traces[number]);
        let with: Vec<bool> = calls.iter().map(|call| call.contains(OWN)).collect();
        assert_eq!(with, [true, true, false], "{server} {calls:?}");
        for call in &calls {
            assert!(!call.contains("unheard-of") && !call.contains("dev.mcp"), "{call}");
            assert!(!call.contains("mine"), "the token is ours: {call}");
            assert_eq!(call.matches("protocolVersion").count(), call.matches(MODERN).count());
        }
    }
}

#[test]
fn the_meta_of_a_client_over_a_pipe_passes_and_is_not_in_the_record() {
    let switchboard = Switchboard::new();
    let trace = switchboard.text_path("trace");
    switchboard.configure(&json!({"one": fixture(&["echo", "--trace", &trace])}));
    let mut pipe = crate::speakers::Pipe::new(switchboard.start(&["serve", "--stdio"]));
    let mut client = pipe.legacy(NEWEST_LEGACY);
    let call = json!({"name": "one__echo", "arguments": {"text": "t"},
        "_meta": {"a.example/word": "only-for-the-server"}});
    crate::speakers::Speaker::ask(&mut client, "tools/call", &call);
    let calls = arrived_texts(&switchboard.path("trace"));
    assert!(calls[0].contains(r#""a.example/word":"only-for-the-server""#), "{calls:?}");
    assert_eq!(switchboard.recorded_calls(), ["tool one/echo: ok"]);
    let id = switchboard.json(&["calls"])[0]["id"].as_str().unwrap().to_owned();
    let recorded = switchboard.json(&["calls", "show", &id]).to_string();
    assert!(recorded.contains("echo") && !recorded.contains("only-for-the-server"), "{recorded}");
}

#[test]
fn what_a_request_says_of_itself_in_an_odd_way_is_refused_at_the_door() {
    let switchboard = Switchboard::with(&json!({"one": fixture(&["echo"])}));
    let gateway = Gateway::with_tool(&switchboard, &[], "one__echo");
    let headers = Modern::headers("tools/call", &json!({"name": "one__echo"}));
    let headers: Vec<(&str, &str)> =
        headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let refused = |params: &str| {
        let call = r#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":"#;
        let reply = send("POST", &gateway.url, &headers, &format!("{call}{params}}}"));
        let status = reply.status;
        let answer = reply.messages().pop().unwrap();
        (status, answer["error"]["code"].clone(), answer["id"].clone())
    };
    let of_era = modern_meta();
    let odd = [
        r#""progressToken":{}"#,
        r#""progressToken":true"#,
        r#""io.modelcontextprotocol/logLevel":"loud""#,
        r#""io.modelcontextprotocol/logLevel":7"#,
    ];
    let odd = odd.map(|odd| format!(r#"{{"name":"one__echo","_meta":{{{odd},{of_era}}}}}"#));
    let info = of_era.replace(r#"{"name":"raw","version":"0"}"#, "7");
    assert_ne!(info, of_era);
    let info = format!(r#"{{"name":"one__echo","_meta":{{{info}}}}}"#);
    let without = ["[]", "7", "null", r#"{"_meta":[]}"#, r#"{"_meta":7}"#, "{}"].map(str::to_owned);
    for params in odd.iter().chain(&without).chain([&info]) {
        assert_eq!(refused(params), (400, json!(-32_602), json!(9)), "{params}");
    }
    assert_eq!(switchboard.recorded_calls(), [""; 0]);
    // A similar name is not the gateway's concern.
    let client = gateway.modern();
    let unknown = client.send("tools/call", &json!({"name": "`_meta", "arguments": {}}));
    assert_eq!(unknown.status, 200);
}
