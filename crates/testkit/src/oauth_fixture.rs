//! An MCP server with a login, and its authorization server, in a process of their own.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

use crate::HttpFixture;

/// A running server that wants a login, ended when the value is dropped.
#[derive(Debug)]
pub struct OauthFixture {
    fixture: HttpFixture,
}

impl OauthFixture {
    /// Starts the fixture `oauth` with these flags and waits until it listens.
    pub fn start(flags: &[&str]) -> Self {
        Self { fixture: HttpFixture::start(&[&["oauth"], flags].concat()) }
    }

    /// The address of the MCP endpoint.
    pub fn url(&self) -> &str {
        &self.fixture.url
    }

    /// Scheme, host and port; also the issuer unless it was given a path.
    pub fn origin(&self) -> String {
        self.fixture.origin()
    }

    /// What the server has seen so far: counts by `requests`, `authorization`, `refreshes`,
    /// `reuses`, `families_revoked`, `tokens_revoked` and `sink_connections`; lists by
    /// `authorizations`, `token_requests`, `registrations` and `problems`.
    pub fn observations(&self) -> Value {
        let (_, body) = exchange("GET", &format!("{}/control", self.origin()), "");
        serde_json::from_str(&body).expect("the control endpoint answers with JSON")
    }

    /// One number of what was seen; 0 when there is none of that name.
    pub fn count(&self, name: &str) -> u64 {
        self.observations().get(name).and_then(Value::as_u64).unwrap_or(0)
    }

    /// How often a path was asked, for example `POST /token`.
    pub fn requests(&self, line: &str) -> u64 {
        let seen = self.observations();
        let all = seen.get("requests");
        all.and_then(|all| all.get(line)).and_then(Value::as_u64).unwrap_or(0)
    }

    /// Makes every access token worthless; refresh tokens stay good.
    pub fn expire(&self) {
        self.send_control(&json!({"expire": true}));
    }

    /// Makes every token worthless.
    pub fn revoke(&self) {
        self.send_control(&json!({"revoke": true}));
    }

    /// Changes how long the tokens live that are given from here on.
    pub fn set_token_seconds(&self, seconds: u64) {
        self.send_control(&json!({"token_seconds": seconds}));
    }

    fn send_control(&self, what: &Value) {
        let _ = exchange("POST", &format!("{}/control", self.origin()), &what.to_string());
    }

    /// Agrees at the authorization endpoint as a browser would, and gives the callback's address.
    pub fn agree(&self, authorization_url: &str) -> String {
        let (head, body) = exchange("GET", authorization_url, "");
        let location = head.lines().find_map(|line| line.strip_prefix("location: "));
        location.map(str::to_owned).unwrap_or_else(|| panic!("no redirect: {head} {body}"))
    }
}

/// The head and the body of one answer.
fn exchange(verb: &str, url: &str, body: &str) -> (String, String) {
    let address = url.strip_prefix("http://").expect("fixtures listen on plain HTTP");
    let (host, path) = address.split_once('/').unwrap_or((address, ""));
    let mut stream = TcpStream::connect(host).expect("the fixture listens");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a limit can be set");
    let length = body.len();
    let head = format!("{verb} /{path} HTTP/1.1\r\nhost: {host}\r\ncontent-length: {length}\r\n");
    stream.write_all(format!("{head}\r\n{body}").as_bytes()).expect("the fixture reads");
    let mut answer = Vec::new();
    let mut piece = [0; 4096];
    // The hand-written server leaves connections open, so the length says when to stop.
    loop {
        let text = String::from_utf8_lossy(&answer);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            let length = length.and_then(|length| length.parse().ok()).unwrap_or(0);
            if body.len() >= length {
                return (head.to_owned(), body.to_owned());
            }
        }
        let count = stream.read(&mut piece).expect("the fixture answers");
        assert!(count > 0, "the fixture left in the middle of an answer: {text}");
        answer.extend(piece.iter().take(count));
    }
}
