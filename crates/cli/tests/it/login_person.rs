//! A person who logs in: starts `login`, opens the address it shows, and returns with the answer.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use switchboard_testkit::OauthFixture;

use crate::running::{Ran, RunningProcess, TEST_TIMEOUT};
use crate::switchboard::Switchboard;

/// Returns a home with a key for the token file and one server that requires a login.
pub(crate) fn home_with_login(fixture: &OauthFixture) -> Switchboard {
    home_with(fixture, &json!({}))
}

/// Returns a home like `home_with_login`, with more members in the server's entry.
pub(crate) fn home_with(fixture: &OauthFixture, more: &Value) -> Switchboard {
    let mut entry = json!({"url": fixture.url()});
    for (name, value) in more.as_object().unwrap() {
        entry[name] = value.clone();
    }
    let mut switchboard = Switchboard::with(&json!({ "guarded": entry }));
    switchboard.set("SWITCHBOARD_TOKEN_KEY", "the key of a test, long enough to be a key");
    switchboard
}

/// A running `login guarded --no-browser` that waits for its person.
pub(crate) struct WaitingLogin {
    pub(crate) running: RunningProcess,
    pub(crate) url: String,
}

impl WaitingLogin {
    /// Starts a login and waits for the address that it shows.
    pub(crate) fn start(switchboard: &Switchboard, more: &[&str]) -> Self {
        let words = [&["login", "guarded", "--no-browser"], more].concat();
        Self::from_running(switchboard.start(&words))
    }

    /// Waits for the address that a running login shows.
    pub(crate) fn from_running(running: RunningProcess) -> Self {
        match running.wait_for_error(address_in) {
            Some(url) => Self { running, url },
            None => panic!("no address came: {:?}", running.finish_within(TEST_TIMEOUT)),
        }
    }

    /// Returns the address that the browser would be redirected to.
    pub(crate) fn redirect_uri(&self) -> String {
        let value = self.url.split("redirect_uri=").nth(1).unwrap().split('&').next().unwrap();
        value.replace("%3A", ":").replace("%2F", "/")
    }

    /// Returns the value that ties an answer to this login.
    pub(crate) fn state(&self) -> String {
        self.url.split("state=").nth(1).unwrap().split('&').next().unwrap().to_owned()
    }

    /// Pastes the address of a callback and waits until the login ends.
    pub(crate) fn paste(mut self, callback: &str) -> Ran {
        self.running.say(&format!("{callback}\n"));
        self.running.close_input();
        self.running.finish_within(TEST_TIMEOUT)
    }
}

/// Returns the authorization URL, which is alone on its line.
fn address_in(text: &str) -> Option<String> {
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    let lines = whole.lines().map(str::trim);
    lines
        .into_iter()
        .find(|line| line.starts_with("http") && line.contains("code_challenge="))
        .map(str::to_owned)
}

/// Logs in from beginning to end.
pub(crate) fn log_in(switchboard: &Switchboard, fixture: &OauthFixture, more: &[&str]) -> Ran {
    let waiting = WaitingLogin::start(switchboard, more);
    let callback = fixture.agree(&waiting.url);
    waiting.paste(&callback)
}

/// Runs a login that must fail before it shows an address; returns its output.
pub(crate) fn run_refused_login(switchboard: &Switchboard, more: &[&str]) -> Ran {
    let words = [&["login", "guarded", "--no-browser"], more].concat();
    let ran = switchboard.run(&words);
    assert_ne!(ran.code, 0, "{ran:?}");
    assert_eq!(address_in(&ran.stderr), None, "{ran:?}");
    ran
}

/// Opens this address as a browser would; returns the head and the body of the response.
pub(crate) fn visit(url: &str) -> Option<(String, String)> {
    let (host, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let mut stream = TcpStream::connect(host).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let request = format!("GET /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    Some((head.to_lowercase(), body.to_owned()))
}

/// Returns the status in the head of a response.
pub(crate) fn status(head: &str) -> u16 {
    head.split(' ').nth(1).unwrap().parse().unwrap()
}

/// Returns the contents of all files below a folder, concatenated.
pub(crate) fn everything_below(folder: &Path) -> String {
    let mut all = String::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.push_str(&everything_below(&path));
        } else if path.is_file() {
            all.push_str(&String::from_utf8_lossy(&std::fs::read(&path).unwrap()));
        }
    }
    all
}
