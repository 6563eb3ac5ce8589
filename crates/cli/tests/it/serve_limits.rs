//! Tests of the limits per caller of a gateway, and of the responses beyond them.

use std::io::{Read as _, Write as _};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::serve_client::{
    Reply, Request, ServingGateway, greeting, message, modern, tool_call, until,
};
use crate::serve_tokens::token;
use crate::switchboard::{Switchboard, fixture};

fn echo() -> Switchboard {
    Switchboard::with(&json!({"one": fixture(&["echo"])}))
}

/// Returns whether the response is a 429 with `Retry-After`.
fn says_later(reply: &Reply) -> bool {
    let wait = reply.header("retry-after").and_then(|wait| wait.parse::<u64>().ok());
    reply.status == 429
        && wait.is_some_and(|wait| wait > 0)
        && reply.json()["error"]["code"] == -32_000
}

#[test]
fn a_caller_with_too_much_under_way_is_told_at_once_and_others_are_not() {
    let switchboard = Switchboard::new();
    let trace = switchboard.text_path("trace");
    switchboard.configure(&json!({"one": fixture(&["echo", "--trace", &trace])}));
    let busy = token(&switchboard, &["busy"]);
    let other = token(&switchboard, &["other"]);
    let serving = ServingGateway::start(&switchboard, &["--require-token", "--max-in-flight", "2"]);
    serving.wait_for_tool(Some(&busy), "one__slow");
    let slow = tool_call(Some(&busy), "one__slow", &json!({"ms": 20_000}));
    let mut streams = Vec::new();
    for _ in 0..2 {
        let mut stream = serving.connect();
        stream.write_all(slow.text(serving.port).as_bytes()).unwrap();
        streams.push(stream);
    }
    // Another request before that would take the place of a call.
    until(|| {
        let heard = std::fs::read_to_string(&trace).unwrap_or_default();
        heard.lines().filter(|line| line.contains("tools/call")).count() == 2
    });
    let list = |token: &str| serving.send(&modern(Some(token), "tools/list", json!({})));
    assert_eq!(list(&busy).status, 429);
    let start = Instant::now();
    let refused = list(&busy);
    assert!(says_later(&refused) && start.elapsed() < Duration::from_secs(2), "{refused:?}");
    assert_eq!(refused.json()["id"], 1);
    assert_eq!(list(&other).status, 200);
    // Disconnecting cancels the calls, which frees their places.
    drop(streams);
    until(|| list(&busy).status == 200);
}

#[test]
fn requests_beyond_the_rate_are_told_when_to_come_back() {
    let switchboard = echo();
    let fast = token(&switchboard, &["fast"]);
    let other = token(&switchboard, &["other"]);
    let serving = ServingGateway::start(&switchboard, &["--require-token", "--max-rate", "3"]);
    let list = |token: &str| serving.send(&modern(Some(token), "tools/list", json!({})));
    until(|| says_later(&list(&fast)));
    assert_eq!(list(&other).status, 200);
    until(|| list(&fast).status == 200);
}

#[test]
fn greetings_of_the_first_revision_count_as_well() {
    let switchboard = echo();
    let serving = ServingGateway::start(&switchboard, &["--max-rate", "3"]);
    let mut stream = serving.open(&Request::new("GET", "/sse"));
    let place = stream.line_with("/messages").unwrap();
    let place = place.strip_prefix("data: ").unwrap();
    until(|| says_later(&serving.send(&greeting().at(place))));
}

#[test]
fn a_caller_has_only_so_many_sessions() {
    let switchboard = echo();
    let many = token(&switchboard, &["many"]);
    let other = token(&switchboard, &["other"]);
    let serving = ServingGateway::start(&switchboard, &["--require-token", "--max-sessions", "2"]);
    let open = |token: &str| serving.send(&greeting().token(token));
    let first = open(&many);
    assert_eq!((first.status, open(&many).status), (200, 200));
    assert!(says_later(&open(&many)));
    assert_eq!(open(&other).status, 200);
    let leave = Request::new("DELETE", "/mcp")
        .with("Mcp-Session-Id", first.header("mcp-session-id").unwrap())
        .token(&many);
    assert_eq!(serving.send(&leave).status, 204);
    assert_eq!(open(&many).status, 200);
}

#[test]
fn sessions_that_were_never_used_make_room_for_others() {
    let switchboard = echo();
    let serving = ServingGateway::start(&switchboard, &["--max-sessions", "3"]);
    let open = || serving.send(&greeting());
    let id = |opened: &Reply| opened.header("mcp-session-id").unwrap().to_owned();
    let ping = |session: &str| {
        let ping = message(&json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}));
        serving.send(&ping.with("Mcp-Session-Id", session)).status
    };
    let used = id(&open());
    assert_eq!([ping(&used), ping(&used)], [200, 200]);
    let unused = [id(&open()), id(&open())];
    // New sessions are protected for a while, so that their clients can use them.
    assert!(says_later(&open()));
    until(|| open().status == 200);
    assert_eq!([ping(&used), ping(&unused[0]), ping(&unused[1])], [200, 404, 200]);
}

#[test]
fn a_message_beyond_the_limit_is_not_read() {
    let switchboard = echo();
    let serving = ServingGateway::start(&switchboard, &["--max-body", "2000"]);
    let of = |bytes: usize| {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "ping", "x": "y".repeat(bytes)});
        serving.send(&message(&body)).status
    };
    assert_eq!([of(100), of(3_000), of(1_000_000)], [400, 413, 413]);
}

#[test]
fn whoever_sends_slowly_is_not_waited_for() {
    let switchboard = echo();
    let serving = ServingGateway::start(&switchboard, &["--read-timeout", "1"]);
    for (sent, answer) in [
        ("", ""),
        ("PRI * HT", ""),
        ("POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-Sl", ""),
        (
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
            "HTTP/1.1 408 ",
        ),
    ] {
        let mut stream = serving.connect();
        stream.write_all(sent.as_bytes()).unwrap();
        let start = Instant::now();
        let mut text = String::new();
        // A connection that is closed before all data was read is reset.
        _ = stream.read_to_string(&mut text);
        assert!(
            text.starts_with(answer) && text.is_empty() == answer.is_empty(),
            "{sent:?}: {text}"
        );
        assert!(start.elapsed() < Duration::from_secs(20), "{sent:?}");
    }
    assert_eq!(serving.send(&modern(None, "tools/list", json!({}))).status, 200);
}

#[test]
fn whoever_stops_reading_is_not_waited_for() {
    let many = fixture(&["echo", "--tools", "2000"]);
    let switchboard = Switchboard::with(&json!({"many": many}));
    let serving = ServingGateway::start(&switchboard, &["--read-timeout", "1", "--tools", "all"]);
    serving.wait_for_tool(None, "many__echo");
    let list = modern(None, "tools/list", json!({})).with("Connection", "keep-alive");
    let asked = 100;
    let list = list.text(serving.port);
    let mut stream = serving.connect();
    for _ in 0..asked {
        stream.write_all(list.as_bytes()).unwrap();
    }
    // Larger than all buffers on the way, so that it cannot be sent.
    std::thread::sleep(Duration::from_secs(4));
    let mut taken = Vec::new();
    // A connection that is closed before all data was read may be reset.
    _ = stream.read_to_end(&mut taken);
    let answers = String::from_utf8_lossy(&taken).matches("HTTP/1.1 200 OK").count();
    assert!(answers > 0 && answers < asked, "{answers}");
    assert_eq!(serving.send(&modern(None, "tools/list", json!({}))).status, 200);
}

#[test]
fn answers_that_nobody_reads_count_as_under_way() {
    let many = fixture(&["echo", "--tools", "2000"]);
    let switchboard = Switchboard::with(&json!({"many": many}));
    let flags = ["--max-in-flight", "40", "--tools", "all"];
    let serving = ServingGateway::start(&switchboard, &flags);
    serving.wait_for_tool(None, "many__echo");
    let mut stream = serving.open(&Request::new("GET", "/sse"));
    let place = stream.line_with("/messages").unwrap();
    let place = place.strip_prefix("data: ").unwrap();
    assert_eq!(serving.send(&greeting().at(place)).status, 202);
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let is_full = (0..2_000).any(|_| says_later(&serving.send(&message(&list).at(place))));
    assert!(is_full, "as many answers as anybody wants wait for somebody to read them");
}
