//! `switchboard serve --grpc` in its own process, and a Python client that sends requests.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use switchboard_testkit::Home;

use crate::running::{Ran, RunningProcess, TEST_TIMEOUT};
use crate::switchboard::{Switchboard, fixture};
use crate::testenv::installed_path;

/// A running service, killed on drop.
pub(crate) struct ServedGrpc {
    pub(crate) running: RunningProcess,
    /// The address that it listens on.
    pub(crate) place: String,
}

impl ServedGrpc {
    /// Starts the service on its usual socket and waits until it listens.
    pub(crate) fn start(switchboard: &Switchboard, arguments: &[&str]) -> Self {
        Self::with(switchboard, &[&["--grpc"], arguments].concat())
    }

    /// Starts the service on a port of this machine instead.
    pub(crate) fn on_port(switchboard: &Switchboard) -> Self {
        Self::with(switchboard, &["--grpc", "127.0.0.1:0"])
    }

    fn with(switchboard: &Switchboard, arguments: &[&str]) -> Self {
        let running = switchboard.start(&[&["serve", "--json"], arguments].concat());
        let told: Value = serde_json::from_str(&running.first_line()).unwrap();
        let place = told["grpc"].as_str().unwrap_or_else(|| panic!("{told}")).to_owned();
        Self { running, place }
    }

    /// Returns the path of its socket.
    pub(crate) fn socket(&self) -> &Path {
        Path::new(self.place.strip_prefix("unix:").unwrap())
    }

    pub(crate) fn stop(self) -> Ran {
        self.running.signal("TERM");
        self.running.finish_within(TEST_TIMEOUT)
    }
}

/// A client, ended on drop.
pub(crate) struct Client {
    running: RunningProcess,
    next: u64,
    _generated: Home,
}

impl Client {
    pub(crate) fn new(served: &ServedGrpc) -> Self {
        Self::with_token(served, "")
    }

    pub(crate) fn with_token(served: &ServedGrpc, token: &str) -> Self {
        let generated = Home::new();
        let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
        let mut command = Command::new(installed_path("grpc/bin/python"));
        command
            .arg(tests.join("editor_client.py"))
            .arg(tests.join("../../../proto"))
            .arg(generated.path())
            .args([&served.place, token]);
        Self { running: RunningProcess::start(&mut command), next: 1, _generated: generated }
    }

    /// Sends a request and returns its number.
    pub(crate) fn begin(&mut self, rpc: &str, request: Value) -> u64 {
        self.say(json!({"rpc": rpc, "request": request}))
    }

    /// Waits for the outcome of a request.
    pub(crate) fn end(&self, number: u64) -> Value {
        let line = self.running.wait_for_line(|line| {
            let told: Value = serde_json::from_str(line).unwrap_or_default();
            told["id"] == number && told.get("event").is_none()
        });
        let mut told: Value = serde_json::from_str(&line).unwrap();
        match told.get("reply") {
            Some(_) => told["reply"].take(),
            None => json!({"code": told["code"], "details": told["details"]}),
        }
    }

    /// Sends a request and waits for its outcome.
    pub(crate) fn ask(&mut self, rpc: &str, request: Value) -> Value {
        let number = self.begin(rpc, request);
        self.end(number)
    }

    /// Returns the code that a request fails with.
    pub(crate) fn code(&mut self, rpc: &str, request: Value) -> String {
        let told = self.ask(rpc, request);
        told["code"].as_str().unwrap_or_else(|| panic!("{rpc}: {told}")).to_owned()
    }

    /// Cancels a request.
    pub(crate) fn cancel(&mut self, number: u64) {
        self.running.say(&format!("{}\n", json!({"cancel": number})));
    }

    /// Opens a stream of events; returns its number in this client and its name in the service.
    pub(crate) fn listen(&mut self) -> (u64, String) {
        let number = self.say(json!({"listen": {}}));
        let opened = self.event(number, "opened");
        (number, opened["stream_id"].as_str().unwrap().to_owned())
    }

    /// Returns the first event of a kind on a stream.
    pub(crate) fn event(&self, stream: u64, kind: &str) -> Value {
        self.event_where(stream, kind, |_| true)
    }

    /// Returns the first event of a kind on a stream that satisfies a condition.
    pub(crate) fn event_where(
        &self,
        stream: u64,
        kind: &str,
        is_wanted: impl Fn(&Value) -> bool,
    ) -> Value {
        let of = |line: &str| {
            let mut told: Value = serde_json::from_str(line).ok()?;
            (told["id"] == stream).then_some(())?;
            told["event"].get_mut(kind).map(Value::take)
        };
        let line =
            self.running.wait_for_line(|line| of(line).is_some_and(|event| is_wanted(&event)));
        of(&line).unwrap()
    }

    /// Returns how many events of a kind a stream has had so far.
    pub(crate) fn count(&self, stream: u64, kind: &str) -> usize {
        let heard = self.running.output_text();
        let told = heard.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        told.filter(|told| told["id"] == stream && told["event"].get(kind).is_some()).count()
    }

    /// Sends a request that is outside the host's service.
    pub(crate) fn other(&mut self, what: &str) -> Value {
        let number = self.say(json!({ what: 1 }));
        self.end(number)
    }

    fn say(&mut self, mut what: Value) -> u64 {
        let number = self.next;
        self.next += 1;
        what["id"] = json!(number);
        self.running.say(&format!("{what}\n"));
        number
    }

    /// Waits until a server's tools are listed.
    pub(crate) fn wait_for(&mut self, server: &str) {
        let start = std::time::Instant::now();
        while start.elapsed() < TEST_TIMEOUT {
            let listed = self.ask("ListOfferings", json!({"server_identifier": server}));
            if listed["servers"][0]["tools"][0]["name"].is_string() {
                return;
            }
        }
        panic!("`{server}` was never there");
    }
}

/// Returns a call of a tool by server and name.
pub(crate) fn direct(server: &str, tool: &str, arguments: &Value) -> Value {
    json!({"direct": {"server": server, "tool_name": tool, "tool_args": arguments}})
}

/// Returns a home with the fixture `echo`, whose tools may run unless a rule of the case says
/// otherwise.
pub(crate) fn echo(rules: &[(&str, &str)]) -> Switchboard {
    let switchboard = Switchboard::with(&json!({"echo": fixture(&["echo"])}));
    let rules = rules.iter().map(|(effect, target)| json!({"effect": effect, "target": target}));
    switchboard.write_policy("user", &json!({"rules": rules.collect::<Vec<_>>()}));
    switchboard
}

/// Returns a home with the fixture `echo` in which a rule allows all its tools.
pub(crate) fn home_with_rules() -> Switchboard {
    echo(&[("allow", "echo/*")])
}

/// Returns a service with a client that sees `echo`.
pub(crate) fn with_client(switchboard: &Switchboard) -> (ServedGrpc, Client) {
    let served = ServedGrpc::start(switchboard, &[]);
    let mut client = Client::new(&served);
    client.wait_for("echo");
    (served, client)
}

/// Returns a result with a single text.
pub(crate) fn success(text: &str) -> Value {
    json!({"success": {"content": [{"text": {"text": text}}]}})
}
