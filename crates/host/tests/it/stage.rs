//! A host in a temporary home, with the servers of a test.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};
use switchboard_catalog::{Fleet, Server, ServerStatus};
use switchboard_config::{Environment, Places};
use switchboard_host::{
    Asker, CallOptions, Caller, FaceAnswers, Host, Lease, Options, Outcome, OutcomeKind,
    ProposedCall, Record, ServerId,
};
use switchboard_store::{FullCall, StoredResult};
use switchboard_testkit::{Home, HttpFixture, binary};
use switchboard_wire::{Json, Peer};

use crate::keeper;

/// Name of the server under test.
pub(crate) const SERVER: &str = "flaky";

/// Maximum wait of any test for an expected state.
const PATIENCE: Duration = Duration::from_secs(20);

/// The configuration of a test before the host starts.
pub(crate) struct Stage {
    pub(crate) home: Home,
    servers: Map<String, Value>,
    start_limit: Duration,
    kept: bool,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let start_limit = Duration::from_secs(30);
        Self { home: Home::new(), servers: Map::new(), start_limit, kept: false }
    }

    /// Adds a server with this entry.
    pub(crate) fn with(mut self, name: &str, entry: Value) -> Self {
        self.servers.insert(name.to_owned(), entry);
        self
    }

    /// Adds [`SERVER`]: the fixture with these arguments, over stdio.
    ///
    /// Its fault hits one process only, so the next one is healthy.
    pub(crate) fn flaky(self, fault: &[&str], timeout_seconds: u64) -> Self {
        let once = self.path("struck");
        let words = [&["flaky", "--fault"], fault, &["--once-file", once.as_str()]].concat();
        self.fixture(SERVER, &words, timeout_seconds)
    }

    /// Adds a fixture with these arguments; it keeps a journal and a trace.
    pub(crate) fn fixture(self, name: &str, words: &[&str], timeout_seconds: u64) -> Self {
        let entry = fixture(&self.home, words, timeout_seconds);
        self.with(name, entry)
    }

    /// Starts an HTTP fixture with these arguments and adds it as [`SERVER`].
    pub(crate) fn web(self, words: &[&str], timeout_seconds: u64) -> (Self, HttpFixture) {
        let fixture = self.listening(words);
        let entry = json!({"url": fixture.url, "timeout": timeout_seconds});
        (self.with(SERVER, entry), fixture)
    }

    /// Starts an HTTP fixture with these arguments; it keeps a journal and a trace.
    pub(crate) fn listening(&self, words: &[&str]) -> HttpFixture {
        let journal = self.path("journal");
        let trace = self.path("trace");
        let files = ["--journal", journal.as_str(), "--trace", trace.as_str()];
        let over_http: &[&str] =
            if words.contains(&"--transport") { &[] } else { &["--transport", "http"] };
        HttpFixture::start(&[words, over_http, &files].concat())
    }

    /// Returns the pids of the fixtures started so far.
    pub(crate) fn started(&self) -> Vec<u32> {
        started(&self.home)
    }

    /// Puts the keeper between the host and its servers.
    pub(crate) const fn kept(mut self) -> Self {
        self.kept = true;
        self
    }

    pub(crate) const fn start_limit(mut self, limit: Duration) -> Self {
        self.start_limit = limit;
        self
    }

    pub(crate) fn path(&self, name: &str) -> String {
        path(&self.home, name)
    }

    /// Starts the host without waiting for its servers.
    pub(crate) fn start(self) -> Play {
        let config = self.write_config();
        let options = options(self.home.path(), config, self.kept, self.start_limit);
        let host = Host::start(options).expect("the host starts");
        Play { home: self.home, host }
    }

    /// Writes the configuration and returns its path.
    pub(crate) fn write_config(&self) -> PathBuf {
        write_config(&self.home, &self.servers)
    }

    /// Starts the host and waits until every server is ready.
    pub(crate) async fn ready(self) -> Play {
        let play = self.start();
        play.host.wait_settled(None).await;
        for server in play.host.fleet().load().servers.values() {
            assert_eq!(server.status, ServerStatus::Ready, "server `{}`", server.id);
        }
        play
    }

    /// Starts the host with an asker that answers the servers' requests, and waits for its servers.
    pub(crate) async fn asked_by(self, asker: Arc<dyn Asker>) -> Play {
        let config = self.write_config();
        let usual = options(self.home.path(), config, self.kept, self.start_limit);
        let answers = Arc::new(FaceAnswers::new(asker, Vec::new()));
        let host = Host::start(Options { answers, ..usual }).expect("the host starts");
        host.wait_settled(None).await;
        Play { home: self.home, host }
    }
}

/// Writes the configuration of a home; a running host reloads it.
pub(crate) fn write_config(home: &Home, servers: &Map<String, Value>) -> PathBuf {
    let config = json!({"mcpServers": servers, "settings": {"builtin": false}});
    home.write("config.json", config.to_string())
}

/// Returns the entry of a fixture with these arguments that keeps a journal and a trace.
pub(crate) fn fixture(home: &Home, words: &[&str], timeout_seconds: u64) -> Value {
    let journal = path(home, "journal");
    let trace = path(home, "trace");
    let files = ["--journal", journal.as_str(), "--trace", trace.as_str()];
    let args = [words, &files].concat();
    json!({"command": binary(), "args": args, "timeout": timeout_seconds})
}

fn path(home: &Home, name: &str) -> String {
    home.path().join(name).to_str().expect("temporary paths are Unicode").to_owned()
}

/// Returns the trace of a home's fixtures so far: received messages and starts.
fn trace(home: &Home) -> Vec<Value> {
    let text = std::fs::read_to_string(home.path().join("trace")).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn started(home: &Home) -> Vec<u32> {
    let pid = |line: &Value| u32::try_from(line["pid"].as_u64()?).ok();
    trace(home).iter().filter_map(pid).collect()
}

/// Returns the options of a test's host, which take nothing from the machine but the paths to
/// programs.
pub(crate) fn options(home: &Path, config: PathBuf, kept: bool, start_limit: Duration) -> Options {
    let places = Places { user: Some(config), ..Places::without_files(home.join("state")) };
    let path = std::env::var("PATH").unwrap_or_default();
    let environment = Environment {
        variables: BTreeMap::from([("PATH".to_owned(), path)]),
        home: Some(home.to_owned()),
        current_dir: home.to_owned(),
    };
    Options { keeper: kept.then(keeper::words), start_limit, ..Options::new(places, environment) }
}

/// A running host.
pub(crate) struct Play {
    pub(crate) home: Home,
    pub(crate) host: Host,
}

impl Play {
    /// Calls a tool of [`SERVER`] as a person would.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Record {
        self.call_on(&self.host.lease(), SERVER, tool, &arguments).await
    }

    /// Calls the tool that leaves a line in the journal.
    pub(crate) async fn write(&self, key: &str) -> Record {
        self.call("write", json!({ "key": key })).await
    }

    pub(crate) async fn call_on(
        &self,
        lease: &Lease,
        server: &str,
        tool: &str,
        arguments: &Value,
    ) -> Record {
        let proposed = ProposedCall::tool(server, tool, Json::from(arguments));
        let record = self.host.call(lease, proposed, &Caller::person()).await;
        self.full(&record).await;
        record
    }

    /// Calls a tool of [`SERVER`] with options, for a caller that watches or cancels.
    pub(crate) async fn call_with(
        &self,
        tool: &str,
        arguments: &Value,
        attention: &CallOptions,
    ) -> Record {
        let lease = self.host.lease();
        let caller = Caller::person();
        let proposed = ProposedCall::tool(SERVER, tool, Json::from(arguments));
        let record = self.host.call_with(&lease, proposed, &caller, attention).await;
        self.full(&record).await;
        record
    }

    /// Returns the ledger's view of a call, after comparing it with the caller's.
    pub(crate) async fn full(&self, record: &Record) -> FullCall {
        assert!(record.recorded, "{record:?}");
        let id = record.id.expect("a recorded call has a number");
        let full = self.host.ledger().show(id).await.unwrap().expect("the call is in the ledger");
        let stored = full.result.clone().map(|result| match result {
            StoredResult::Whole(text) => text,
            StoredResult::Cut { .. } => record.outcome.result.clone().unwrap(),
        });
        let written = Outcome {
            // The error is returned to the caller, and is not recorded as such.
            error: record.outcome.error.clone(),
            kind: full.summary.outcome.expect("a call that returned has an outcome"),
            reason: full.summary.reason.clone(),
            message: full.message.clone(),
            hint: full.hint.clone(),
            result: stored,
        };
        assert_eq!(written, record.outcome);
        full
    }

    /// Returns how often the tool `write` ran with this key.
    pub(crate) fn effects(&self, key: &str) -> usize {
        let line = format!("write {key}");
        self.home.journal_lines().iter().filter(|written| **written == line).count()
    }

    /// Returns the fixture's trace so far: received messages and starts.
    pub(crate) fn trace(&self) -> Vec<Value> {
        trace(&self.home)
    }

    /// Returns the number of messages with this method that reached the fixture.
    pub(crate) fn received(&self, method: &str) -> usize {
        let named = format!("\"method\":\"{method}\"");
        let bodies = self.trace();
        bodies
            .iter()
            .filter(|line| line["body"].as_str().is_some_and(|b| b.contains(&named)))
            .count()
    }

    /// Returns the pids of the fixture started so far.
    pub(crate) fn started(&self) -> Vec<u32> {
        started(&self.home)
    }

    pub(crate) fn server(&self, name: &str) -> Arc<Server> {
        let fleet = self.host.fleet().load();
        fleet.servers.get(name).unwrap_or_else(|| panic!("there is no server `{name}`")).clone()
    }

    pub(crate) fn status(&self) -> ServerStatus {
        self.server(SERVER).status.clone()
    }

    /// Returns the current connection to [`SERVER`].
    pub(crate) fn peer(&self) -> Peer {
        self.server(SERVER).instances[0].peer.clone().expect("the server is ready")
    }

    /// Waits until the fleet satisfies `wanted`.
    pub(crate) async fn until(&self, what: &str, wanted: impl Fn(&Fleet) -> bool) {
        let mut changes = self.host.fleet().changes();
        let waiting = async {
            let mut fleet = changes.load();
            while !wanted(&fleet) {
                fleet = changes.changed().await;
            }
        };
        let came = tokio::time::timeout(PATIENCE, waiting).await;
        assert!(came.is_ok(), "waited in vain until {what}; it is {:?}", self.host.fleet().load());
    }

    /// Waits until the status of [`SERVER`] satisfies `wanted`.
    pub(crate) async fn until_status(&self, what: &str, wanted: impl Fn(&ServerStatus) -> bool) {
        self.until(what, |fleet| wanted(&fleet.servers[&id(SERVER)].status)).await;
    }

    pub(crate) async fn settled(&self, server: &str) {
        self.host.wait_settled(Some(&[id(server)])).await;
    }

    pub(crate) async fn stop(self) -> Home {
        self.host.stop().await;
        self.home
    }
}

pub(crate) fn id(server: &str) -> ServerId {
    ServerId::new(server).unwrap()
}

/// Polls a condition that no event reports.
pub(crate) async fn eventually(what: &str, limit: Duration, condition: impl AsyncFn() -> bool) {
    let end = tokio::time::Instant::now() + limit;
    while !condition().await {
        assert!(tokio::time::Instant::now() < end, "not within {limit:?}: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Returns the outcome of a call and its reason, in machine-readable form.
pub(crate) fn words(record: &Record) -> (OutcomeKind, Option<&str>) {
    (record.outcome.kind, record.outcome.reason.as_deref())
}

pub(crate) fn message(record: &Record) -> &str {
    record.outcome.message.as_deref().unwrap_or_default()
}

pub(crate) fn result(record: &Record) -> Value {
    let bytes = record.outcome.result.as_ref().unwrap_or_else(|| panic!("no result: {record:?}"));
    serde_json::from_slice(bytes).unwrap()
}

/// Returns the text of the first content item of a result.
pub(crate) fn text(record: &Record) -> String {
    result(record)["content"][0]["text"].as_str().expect("a text").to_owned()
}
