//! Tests of pages of other origins: allowed ones may use the gateway from a browser.

use serde_json::json;

use crate::serve_client::{Request, ServingGateway, greeting, tool_call};
use crate::switchboard::{Switchboard, fixture};
use crate::transcript::transcript;

const PAGE: &str = "https://pages.example";

#[test]
fn a_browser_is_told_that_an_allowed_page_may_talk_and_nobody_else_is() {
    let switchboard = Switchboard::with(&json!({"one": fixture(&["echo"])}));
    let serving = ServingGateway::start(&switchboard, &["--allow-origin", PAGE]);
    serving.wait_for_tool(None, "one__echo");
    let asks = Request::new("OPTIONS", "/mcp")
        .with("Access-Control-Request-Method", "POST")
        .with("Access-Control-Request-Headers", "content-type,mcp-method");
    let ours = format!("http://localhost:{}", serving.port);
    for (origin, host, expected) in [
        (PAGE, "localhost", (204, Some(PAGE), Some("content-type,mcp-method"))),
        (PAGE, "evil.example", (403, None, None)),
        ("https://evil.example", "localhost", (403, None, None)),
        (&ours, "localhost", (405, None, None)),
    ] {
        let reply = serving.send(&asks.clone().with("Origin", origin).with("Host", host));
        let allowed = reply.header("access-control-allow-origin");
        let headers = reply.header("access-control-allow-headers");
        assert_eq!((reply.status, allowed, headers), expected, "{origin} {host}");
    }
    let call = tool_call(None, "one__echo", &json!({"text": "a"}));
    for (origin, expected) in
        [(PAGE, (200, Some(PAGE))), (&ours, (200, None)), ("https://evil.example", (403, None))]
    {
        let reply = serving.send(&call.clone().with("Origin", origin));
        let allowed = reply.header("access-control-allow-origin");
        assert_eq!((reply.status, allowed), expected, "{origin}");
    }
    let greeted = serving.send(&greeting().with("Origin", PAGE));
    let exposed = greeted.header("access-control-expose-headers").unwrap();
    assert!(exposed.contains("mcp-session-id"), "{exposed}");
}

#[test]
fn names_that_no_request_could_come_with_keep_serve_from_starting() {
    let switchboard = Switchboard::new();
    let mut seen = Vec::new();
    for words in [
        ["--allow-host", "https://tools.example"],
        ["--allow-host", ""],
        ["--allow-origin", "pages.example"],
        ["--allow-origin", "https://pages.example/"],
        ["--allow-origin", "*"],
        ["--listen", "here:8808"],
    ] {
        let refused = switchboard.run(&[&["serve"], &words[..]].concat()).expect(2);
        seen.push(transcript(&refused));
    }
    insta::assert_snapshot!(seen.join("\n\n"), @"
    exit status 2
    --- stderr
    error: `https://tools.example` is not a host name
    hint: write `tools.example.com`

    exit status 2
    --- stderr
    error: `` is not a host name
    hint: write `tools.example.com`

    exit status 2
    --- stderr
    error: `pages.example` is not an origin
    hint: write `https://pages.example.com`, with a port if needed and without a path

    exit status 2
    --- stderr
    error: `https://pages.example/` is not an origin
    hint: write `https://pages.example.com`, with a port if needed and without a path

    exit status 2
    --- stderr
    error: `*` is not an origin
    hint: write `https://pages.example.com`, with a port if needed and without a path

    exit status 2
    --- stderr
    error: invalid value 'here:8808' for '--listen <ADDRESS:PORT>': write it as 127.0.0.1:[port], [::1]:[port] or localhost:[port]

    For more information, try '--help'.
    ");
    let serving = switchboard.start(&["serve", "--listen", "localhost:0"]);
    serving.wait_for("http://127.0.0.1:");
}
