//! A `FastMCP` server over its three transports; the two modern ones use the modern era.

use serde_json::{Value, json};

use crate::remote_server::RemoteServer;
use crate::switchboard::{Switchboard, result_text};
use crate::testenv;
use crate::transcript::transcript;

#[test]
fn fastmcp_answers_over_stdio() {
    check(&testenv::fastmcp(), "2026-07-28");
}

#[test]
fn fastmcp_answers_over_streamable_http() {
    let server = RemoteServer::fastmcp("http");
    check(&json!({"url": server.url}), "2026-07-28");
}

#[test]
fn fastmcp_answers_over_sse() {
    let server = RemoteServer::fastmcp("sse");
    check(&json!({"type": "sse", "url": server.url}), "2025-11-25");
}

fn check(entry: &Value, revision: &str) {
    let switchboard = Switchboard::with(&json!({"sample": entry}));
    assert_eq!(switchboard.status("sample"), ["ready", revision]);
    assert_eq!(switchboard.tools("sample"), ["add", "fail"]);
    switchboard.check_shown("sample", "add", "a");

    let sum = switchboard.call(&["sample", "add", "a=2", "b=40"], 0);
    assert_eq!(sum["result"]["structuredContent"], json!({"result": 42}), "{sum}");
    let failed = switchboard.call(&["sample", "fail", "reason=the moon is full"], 1);
    assert!(result_text(&failed).contains("the moon is full"), "{failed}");
    let read = switchboard.run(&["resources", "read", "sample", "sample://greeting"]).expect(0);
    assert!(read.stdout.ends_with("Hello from FastMCP\n"), "{read:?}");
    let prompt = switchboard.run(&["prompts", "get", "sample", "summarize", "text=a b"]).expect(0);
    assert_eq!(prompt.stdout, "user: Summarize this text in one sentence:\n\na b\n");
    let wrong = switchboard.run(&["call", "sample", "add", "a=2", "b=half"]).expect(2);
    insta::assert_snapshot!(transcript(&wrong), @"
    exit status 2
    --- stderr
    error: the arguments for `sample/add` do not fit: `/b` must be an integer, got a string
    hint: `switchboard tools show sample add` shows its arguments
    ");

    assert_eq!(
        switchboard.recorded_calls(),
        [
            "tool sample/add: ok",
            "tool sample/fail: tool_error",
            "resource sample/sample://greeting: ok",
            "prompt sample/summarize: ok",
            "tool sample/add: not_sent (bad_arguments)",
        ]
    );
}
