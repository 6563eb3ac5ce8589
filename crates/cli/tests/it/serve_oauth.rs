//! Tests of the gateway as a resource server of an OAuth issuer, here a thread of the test.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::sync::mpsc;
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use serde_json::{Value, json};
use switchboard_testkit::HttpFixture;

use crate::serve_client::{Request, ServingGateway, greeting, modern, tool_call};
use crate::serve_tokens::token;
use crate::switchboard::{Switchboard, fixture};

pub(crate) const AUDIENCE: &str = "https://gateway.example/mcp";
const CHALLENGE: &str = r#"resource_metadata="https://gateway.example/.well-known/oauth-protected-resource/mcp", scope="tools""#;

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

/// An issuer with one key.
pub(crate) struct Issuer {
    pub(crate) url: String,
    pair: Ed25519KeyPair,
}

impl Issuer {
    pub(crate) fn start() -> Self {
        Self::start_with(|| {})
    }

    /// Starts an issuer that runs `before` ahead of each response with its keys.
    pub(crate) fn start_with(before: impl Fn() + Send + 'static) -> Self {
        let pair = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        let pair = Ed25519KeyPair::from_pkcs8(pair.as_ref()).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let x = BASE64_URL_SAFE_NO_PAD.encode(pair.public_key());
        let keys = json!({"keys": [{"kty": "OKP", "crv": "Ed25519", "kid": "k", "x": x}]});
        let metadata = json!({"issuer": url, "jwks_uri": format!("{url}/keys")});
        // The thread ends with the test process.
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
                let first = lines.next().unwrap().unwrap();
                while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
                let (status, body) = match first.split(' ').nth(1).unwrap() {
                    "/keys" => {
                        before();
                        ("200 OK", keys.to_string())
                    }
                    "/.well-known/oauth-authorization-server" => ("200 OK", metadata.to_string()),
                    _ => ("404 Not Found", String::new()),
                };
                let length = body.len();
                let head =
                    format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close");
                _ = write!(stream, "{head}\r\n\r\n{body}");
            }
        });
        Self { url, pair }
    }

    /// Returns a token with these claims instead of the usual ones.
    pub(crate) fn token(&self, changes: &Value) -> String {
        let now = now();
        let mut claims = json!({
            "iss": self.url, "aud": AUDIENCE, "exp": now + 600, "sub": "ada", "scope": "tools more",
        });
        for (name, value) in changes.as_object().unwrap() {
            claims[name] = value.clone();
        }
        let encode = |value: &Value| BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
        let header = json!({"alg": "EdDSA", "kid": "k"});
        let signed = format!("{}.{}", encode(&header), encode(&claims));
        let signature = BASE64_URL_SAFE_NO_PAD.encode(self.pair.sign(signed.as_bytes()));
        format!("{signed}.{signature}")
    }

    fn serve(&self, switchboard: &Switchboard) -> ServingGateway {
        let flags = ["--oauth-issuer", &self.url, "--oauth-audience", AUDIENCE];
        ServingGateway::start(switchboard, &[&flags[..], &["--oauth-scope", "tools"]].concat())
    }
}

#[test]
fn a_client_finds_out_how_to_get_in_and_gets_in() {
    let switchboard = Switchboard::with(&json!({"one": fixture(&["echo"])}));
    let named = token(&switchboard, &["named"]);
    let issuer = Issuer::start();
    let serving = issuer.serve(&switchboard);
    let refused = serving.send(&modern(None, "tools/list", json!({})));
    assert_eq!(refused.status, 401);
    assert_eq!(refused.header("www-authenticate"), Some(&*format!("Bearer {CHALLENGE}")));
    for path in
        ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"]
    {
        let told = serving.send(&Request::new("GET", path));
        assert_eq!(told.status, 200);
        assert_eq!(
            (&told.json()["resource"], &told.json()["authorization_servers"]),
            (&json!(AUDIENCE), &json!([issuer.url]))
        );
    }
    let good = issuer.token(&json!({"client_id": "editor"}));
    serving.wait_for_tool(Some(&good), "one__echo");
    let called = serving.send(&tool_call(Some(&good), "one__echo", &json!({"text": "hello"})));
    assert_eq!(called.json()["result"]["content"][0]["text"], "hello");
    let place = issuer.url.strip_prefix("http://").unwrap();
    let caller = format!("client:ada@{place} (tester)");
    assert_eq!(switchboard.json(&["calls"])[0]["caller"], caller);
    // Named tokens are valid as well as those of the issuer.
    assert_eq!(serving.send(&modern(Some(&named), "tools/list", json!({}))).status, 200);
}

#[test]
fn who_hangs_up_while_the_keys_are_fetched_keeps_nobody_out() {
    let (asked, is_asked) = mpsc::channel();
    let (open, opened) = mpsc::channel();
    let issuer = Issuer::start_with(move || {
        asked.send(()).unwrap();
        opened.recv().unwrap();
    });
    let switchboard = Switchboard::with(&json!({"one": fixture(&["echo"])}));
    let serving = issuer.serve(&switchboard);
    let good = issuer.token(&json!({}));
    let list = modern(Some(&good), "tools/list", json!({}));
    let mut stream = serving.connect();
    stream.write_all(list.text(serving.port).as_bytes()).unwrap();
    is_asked.recv().unwrap();
    drop(stream);
    // Requests in the meantime wait for the same keys.
    let statuses = std::thread::scope(|scope| {
        let waiting = [(); 2].map(|()| scope.spawn(|| serving.send(&list).status));
        std::thread::sleep(std::time::Duration::from_millis(100));
        open.send(()).unwrap();
        waiting.map(|one| one.join().unwrap())
    });
    assert_eq!(statuses, [200, 200]);
    assert!(is_asked.try_recv().is_err(), "the keys were fetched twice");
}

#[test]
fn streams_end_when_the_last_token_of_their_caller_has_run_out() {
    let issuer = Issuer::start();
    let switchboard = Switchboard::with(&json!({"one": fixture(&["echo"])}));
    let serving = issuer.serve(&switchboard);
    let whole = issuer.token(&json!({"sub": "whole"}));
    serving.wait_for_tool(Some(&whole), "one__echo");
    // Clocks may differ by a minute, so these tokens are valid for a few more seconds.
    let last = |who: &str| issuer.token(&json!({"sub": who, "exp": now() - 52}));
    let gone = last("gone");
    let renewed = last("renewed");
    let wanted = json!({"notifications": {"toolsListChanged": true}});
    let listen = |token: &str| {
        let mut events = serving.open(&modern(Some(token), "subscriptions/listen", wanted.clone()));
        assert!(events.line_with("subscriptions/acknowledged").is_some());
        events
    };
    let mut modern_stream = listen(&gone);
    let mut stays = listen(&renewed);
    let greeted = serving.send(&greeting().token(&gone));
    let session = greeted.header("mcp-session-id").unwrap();
    let stream = Request::new("GET", "/mcp").with("Mcp-Session-Id", session);
    let mut legacy_stream = serving.open(&stream.clone().token(&gone));
    assert_eq!(legacy_stream.status, 200);
    let new = |who: &str| issuer.token(&json!({"sub": who}));
    serving.wait_for_tool(Some(&new("renewed")), "one__echo");
    assert_eq!(modern_stream.line_with("no such text"), None);
    assert_eq!(legacy_stream.line_with("no such text"), None);
    // The session accepts a new token, and streams whose token was renewed in time continue.
    assert_eq!(serving.open(&stream.clone().token(&gone)).status, 401);
    assert_eq!(serving.open(&stream.token(&new("gone"))).status, 200);
    switchboard.configure(&json!({"one": fixture(&["echo"]), "two": fixture(&["echo"])}));
    assert!(stays.line_with("tools/list_changed").is_some());
}

#[test]
fn keys_that_cannot_be_fetched_let_nobody_in_and_that_is_told() {
    let switchboard = Switchboard::new();
    let nowhere = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("http://{nowhere}");
    let flags = ["--oauth-issuer", &url, "--oauth-audience", AUDIENCE];
    let serving = ServingGateway::start(&switchboard, &flags);
    let token = Issuer::start().token(&json!({"iss": url}));
    assert_eq!(serving.send(&modern(Some(&token), "tools/list", json!({}))).status, 503);
    let told = format!("warning: cannot fetch the keys of the issuer `{url}`: `{url}/.well");
    let line = serving.wait_for_error(&told);
    assert!(line.contains("Connection refused"), "{line}");
}

#[test]
fn oa_08_a_token_that_is_not_for_us_is_refused_and_goes_nowhere() {
    let folder = switchboard_testkit::Home::new();
    let trace = folder.path().join("trace");
    let upstream =
        HttpFixture::start(&["echo", "--transport", "http", "--trace", trace.to_str().unwrap()]);
    let switchboard = Switchboard::with(&json!({"one": {"url": upstream.url}}));
    let issuer = Issuer::start();
    let serving = issuer.serve(&switchboard);
    let bad = format!(r#"Bearer error="invalid_token", {CHALLENGE}"#);
    let few = format!(r#"Bearer error="insufficient_scope", {CHALLENGE}"#);
    for (changes, status, challenge) in [
        (json!({"aud": "https://other.example"}), 401, &bad),
        (json!({"iss": "https://other.example"}), 401, &bad),
        (json!({"exp": 1_000}), 401, &bad),
        (json!({"nbf": 99_999_999_999_u64}), 401, &bad),
        (json!({"scope": "more"}), 403, &few),
    ] {
        let call = tool_call(Some(&issuer.token(&changes)), "one__echo", &json!({"text": "x"}));
        let reply = serving.send(&call);
        let got = (reply.status, reply.header("www-authenticate"));
        assert_eq!(got, (status, Some(challenge.as_str())), "{changes}");
    }
    let stranger = Issuer::start().token(&json!({"iss": issuer.url}));
    assert_eq!(serving.send(&modern(Some(&stranger), "tools/list", json!({}))).status, 401);
    let heard = std::fs::read_to_string(trace).unwrap_or_default();
    assert!(!heard.contains("tools/call"), "{heard}");
    assert_eq!(switchboard.recorded_calls(), Vec::<String>::new());
}

#[test]
fn oa_09_what_a_client_proves_itself_with_never_reaches_a_server() {
    let folder = switchboard_testkit::Home::new();
    let trace = folder.path().join("trace");
    let upstream =
        HttpFixture::start(&["echo", "--transport", "http", "--trace", trace.to_str().unwrap()]);
    let servers =
        json!({"one": {"url": upstream.url, "headers": {"Authorization": "Bearer ours"}}});
    let switchboard = Switchboard::with(&servers);
    let named = token(&switchboard, &["named"]);
    let issuer = Issuer::start();
    let serving = issuer.serve(&switchboard);
    let signed = issuer.token(&json!({}));
    for known in [&named, &signed] {
        serving.wait_for_tool(Some(known), "one__echo");
        let call = tool_call(Some(known), "one__echo", &json!({"text": "hello"}))
            .with("X-Api-Key", known)
            .with("Cookie", &format!("token={known}"));
        assert_eq!(serving.send(&call).json()["result"]["content"][0]["text"], "hello");
    }
    let heard = std::fs::read_to_string(trace).unwrap();
    let requests = heard.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let calls: Vec<Value> = requests
        .filter(|one| one["body"].as_str().is_some_and(|body| body.contains("tools/call")))
        .collect();
    assert_eq!(calls.len(), 2);
    for call in &calls {
        assert_eq!(call["headers"]["authorization"], "Bearer ours");
    }
    for secret in [&named, &signed, "x-api-key", "cookie"] {
        assert!(!heard.contains(secret), "`{secret}` reached the server");
    }
}

#[test]
fn addresses_that_are_not_safe_are_refused_at_the_start() {
    let switchboard = Switchboard::new();
    for (flags, message) in [
        (
            &["--oauth-issuer", "http://issuer.example", "--oauth-audience", AUDIENCE][..],
            "error: unsafe URL `http://issuer.example`: use `https`, or `http` on this machine\n",
        ),
        (&["--oauth-issuer", "https://issuer.example"], "error: the following required arguments"),
    ] {
        let ran = switchboard.run(&[&["serve", "--listen", "127.0.0.1:0"], flags].concat());
        let ran = ran.expect(2);
        assert!(ran.stderr.starts_with(message), "{ran:?}");
    }
}
