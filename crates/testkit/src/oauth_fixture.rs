//! An MCP server that requires a login, and its authorization server, in one child process.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

use crate::HttpFixture;

/// A running MCP server that requires a login, killed when the value is dropped.
#[derive(Debug)]
pub struct OauthFixture {
    fixture: HttpFixture,
}

impl OauthFixture {
    /// Starts the fixture `oauth` with these flags and waits until it listens.
    pub fn start(flags: &[&str]) -> Self {
        Self { fixture: HttpFixture::start(&[&["oauth"], flags].concat()) }
    }

    /// URL of the MCP endpoint.
    pub fn url(&self) -> &str {
        &self.fixture.url
    }

    /// Returns scheme, host and port; also the issuer, unless `--issuer-path` adds a path.
    pub fn origin(&self) -> String {
        self.fixture.origin()
    }

    /// Returns the server's observations so far: counts under `requests`, `authorization`,
    /// `refreshes`, `reuses`, `families_revoked`, `tokens_revoked` and `sink_connections`; lists
    /// under `authorizations`, `token_requests`, `registrations` and `problems`.
    pub fn observations(&self) -> Value {
        let (_, body) = exchange("GET", &format!("{}/control", self.origin()), "");
        serde_json::from_str(&body).expect("the control endpoint answers with JSON")
    }

    /// Returns one count of the observations, or 0 if there is none of that name.
    pub fn count(&self, name: &str) -> u64 {
        self.observations().get(name).and_then(Value::as_u64).unwrap_or(0)
    }

    /// Returns the number of requests with a verb and path, for example `POST /token`.
    pub fn requests(&self, line: &str) -> u64 {
        let seen = self.observations();
        let all = seen.get("requests");
        all.and_then(|all| all.get(line)).and_then(Value::as_u64).unwrap_or(0)
    }

    /// Expires every access token; refresh tokens stay valid.
    pub fn expire(&self) {
        self.send_control(&json!({"expire": true}));
    }

    /// Revokes every access and refresh token.
    pub fn revoke(&self) {
        self.send_control(&json!({"revoke": true}));
    }

    /// Sets the lifetime of access tokens that are issued from here on.
    pub fn set_token_seconds(&self, seconds: u64) {
        self.send_control(&json!({"token_seconds": seconds}));
    }

    fn send_control(&self, what: &Value) {
        let _ = exchange("POST", &format!("{}/control", self.origin()), &what.to_string());
    }

    /// Consents at the authorization endpoint as a browser would, and returns the callback URL.
    pub fn agree(&self, authorization_url: &str) -> String {
        let (head, body) = exchange("GET", authorization_url, "");
        let location = head.lines().find_map(|line| line.strip_prefix("location: "));
        location.map(str::to_owned).unwrap_or_else(|| panic!("no redirect: {head} {body}"))
    }
}

/// Sends a request and returns the head and the body of the response.
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
    // The fixture keeps connections open, so `content-length` marks the end of the response.
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
