//! The whole line: a host with configuration, policy, checks and, if wanted, the ledger.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use switchboard_catalog::{Lease, ServerStatus};
use switchboard_config::{Environment, Places};
use switchboard_core::{Caller, OutcomeKind, ProposedCall};
use switchboard_host::{Host, Options, Recording};
use switchboard_wire::Json;
use tempfile::TempDir;

use crate::error::Result;
use crate::load::LoadClient;

/// A server in the host's configuration.
pub(crate) enum EngineServer<'a> {
    /// Started with these arguments after `raw-server stdio`.
    Stdio(Vec<String>),
    Http(&'a str),
}

#[derive(Clone)]
pub(super) struct EngineClient {
    host: Host,
    lease: Lease,
    caller: Caller,
    arguments: Json,
    _home: Arc<TempDir>,
}

impl EngineClient {
    pub(super) async fn start(
        server: EngineServer<'_>,
        recording: Recording,
        arguments: String,
    ) -> Result<Self> {
        let home = TempDir::new()?;
        let host = start_host(home.path(), [server], recording)?;
        host.wait_settled(None).await;
        require_ready(&host, 1)?;
        let lease = host.lease();
        let arguments = Json::from_trusted(arguments);
        Ok(Self { host, lease, caller: Caller::person(), arguments, _home: Arc::new(home) })
    }

    pub(super) async fn stop(self) {
        self.host.stop().await;
    }
}

impl LoadClient for EngineClient {
    async fn call(&self) -> Result<usize> {
        let proposed = ProposedCall::tool("raw0", "echo", self.arguments.clone());
        let record = self.host.call(&self.lease, proposed, &self.caller).await;
        match (record.outcome.kind, record.outcome.result) {
            (OutcomeKind::Ok, Some(result)) => Ok(result.len()),
            (kind, _) => {
                let why = record.outcome.message.unwrap_or_default();
                Err(format!("the call ended as {}: {why}", kind.as_str()).into())
            }
        }
    }
}

/// Starts a host with the servers `raw0`, `raw1` and so on, and its files below `home`.
pub(crate) fn start_host<'a>(
    home: &Path,
    servers: impl IntoIterator<Item = EngineServer<'a>>,
    recording: Recording,
) -> Result<Host> {
    Ok(Host::start(options(home, servers, recording)?)?)
}

/// Like [`start_host`], but starts servers through the keeper of the shipped program, if that
/// program exists.
pub(crate) fn start_kept_host<'a>(
    home: &Path,
    servers: impl IntoIterator<Item = EngineServer<'a>>,
    recording: Recording,
) -> Result<Host> {
    let mut options = options(home, servers, recording)?;
    let keeper = std::env::current_exe()?.with_file_name("switchboard");
    if let Some(keeper) = keeper.to_str().filter(|_| keeper.is_file()) {
        options.keeper = Some(vec![keeper.to_owned(), "__keep".to_owned()]);
    }
    Ok(Host::start(options)?)
}

fn options<'a>(
    home: &Path,
    servers: impl IntoIterator<Item = EngineServer<'a>>,
    record: Recording,
) -> Result<Options> {
    let program = std::env::current_exe()?;
    let program = program.to_str().ok_or("the path of this program is not text")?;
    let mut entries = Map::new();
    for (number, server) in servers.into_iter().enumerate() {
        let entry = match server {
            EngineServer::Stdio(more) => {
                let mut words = vec!["raw-server".to_owned(), "stdio".to_owned()];
                words.extend(more);
                json!({ "command": program, "args": words })
            }
            EngineServer::Http(url) => json!({ "type": "http", "url": url }),
        };
        entries.insert(format!("raw{number}"), entry);
    }
    let config = json!({ "mcpServers": Value::Object(entries), "settings": { "builtin": false } });
    let file = home.join("config.json");
    std::fs::write(&file, config.to_string())?;
    let places = Places { explicit: vec![file], ..Places::without_files(home.join("state")) };
    Ok(Options { record, ..Options::new(places, Environment::from_process()) })
}

/// Fails unless there are exactly `count` servers and all of them are ready.
pub(crate) fn require_ready(host: &Host, count: usize) -> Result<()> {
    let fleet = host.fleet().load();
    for server in fleet.servers.values() {
        if server.status != ServerStatus::Ready {
            let why = server.status.failure().map(|failure| failure.message.clone());
            let why = why.unwrap_or_else(|| server.status.word().to_owned());
            return Err(format!("server `{}` is not ready: {why}", server.id).into());
        }
    }
    if fleet.servers.len() == count {
        Ok(())
    } else {
        Err(format!("{} servers instead of {count}", fleet.servers.len()).into())
    }
}
