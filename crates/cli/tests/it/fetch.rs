//! The fetch server on a page that the test serves on loopback.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::thread;

use serde_json::json;

use crate::switchboard::{Switchboard, result_text};
use crate::testenv;
use crate::transcript::transcript;

const PAGE: &str = "<html><head><title>Birds</title></head><body><main><h1>Cranes</h1>\
    <p>A crane is a tall bird that dances.</p></main></body></html>";

/// Serves a page, and another that `robots.txt` disallows, for as long as the test runs.
fn serve_page() -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for mut stream in listener.incoming().filter_map(Result::ok) {
            let lines = BufReader::new(&stream).lines().map_while(Result::ok);
            let request: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
            let path = request.first().and_then(|line| line.split(' ').nth(1)).unwrap_or_default();
            let (status, kind, body) = match path {
                "/page" | "/private" => ("200 OK", "text/html", PAGE),
                "/robots.txt" => ("200 OK", "text/plain", "User-agent: *\nDisallow: /private\n"),
                _ => ("404 Not Found", "text/plain", "nothing"),
            };
            let length = body.len();
            // Ignored: the client may have disconnected early.
            _ = write!(
                stream,
                "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\
                 connection: close\r\n\r\n{body}"
            );
        }
    });
    format!("http://{address}")
}

#[test]
fn fetch_brings_a_page_and_tells_why_it_does_not_bring_another() {
    let origin = serve_page();
    let switchboard = Switchboard::with(&json!({
        "fetch": testenv::fetch(&["--allow-private-ips"]),
        "careful": testenv::fetch(&[]),
    }));
    assert_eq!(switchboard.status("fetch"), ["ready", "2026-07-28"]);
    assert_eq!(switchboard.tools("fetch"), ["fetch"]);
    switchboard.check_shown("fetch", "fetch", "max_length");

    let page = format!("url={origin}/page");
    let simplified = switchboard.run(&["call", "fetch", "fetch", &page]).expect(0).stdout;
    for part in ["Cranes", "A crane is a tall bird that dances."] {
        assert!(simplified.contains(part), "no `{part}` in {simplified}");
    }
    assert!(!simplified.contains("<p>"), "{simplified}");
    let raw = switchboard.call(&["fetch", "fetch", &page, "raw=true"], 0);
    assert!(result_text(&raw).contains(PAGE), "{raw}");

    for (server, path, why) in [
        ("fetch", "private", "autonomous fetching of this page is not allowed"),
        ("fetch", "missing", "status code 404"),
        ("careful", "page", "not a public address"),
    ] {
        let failed = switchboard.call(&[server, "fetch", &format!("url={origin}/{path}")], 1);
        assert!(result_text(&failed).contains(why), "no `{why}` in {failed}");
    }
    let wrong = switchboard.run(&["call", "fetch", "fetch", &page, "max_length=0"]).expect(2);
    insta::assert_snapshot!(transcript(&wrong), @"
    exit status 2
    --- stderr
    error: the arguments for `fetch/fetch` do not fit: `/max_length` must be at least 1, got 0
    hint: `switchboard tools show fetch fetch` shows its arguments
    ");

    assert_eq!(
        switchboard.recorded_calls(),
        [
            "tool fetch/fetch: ok",
            "tool fetch/fetch: ok",
            "tool fetch/fetch: tool_error",
            "tool fetch/fetch: tool_error",
            "tool careful/fetch: tool_error",
            "tool fetch/fetch: not_sent (bad_arguments)",
        ]
    );
}
