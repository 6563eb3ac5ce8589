//! `switchboard serve` in a temporary home, with servers that keep journals.

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Map, Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use super::SoakError;
use super::check::RecordRow;
use super::journals::Journals;
use super::plan::SoakPlan;
use crate::Home;

/// How long the tools of all servers may take to be listed.
const READY_TIMEOUT: Duration = Duration::from_secs(180);
/// How long the gateway may take to exit; it drains calls for half a minute.
const CLOSE_GRACE: Duration = Duration::from_secs(60);

/// The home directory of a gateway, usable before and after it runs.
pub(super) struct GatewayHome {
    home: Home,
    program: PathBuf,
}

/// A running gateway, killed when the value is dropped.
pub(super) struct SoakGateway {
    process: Child,
    pub(super) address: String,
}

impl GatewayHome {
    pub(super) fn new(plan: &SoakPlan) -> Self {
        let place = Self { home: Home::new(), program: plan.program.clone() };
        let journals = place.journals();
        let fixture = crate::binary();
        let mut servers = Map::new();
        for number in 0..plan.servers {
            let journal = journals.path(number);
            let tools = plan.tools_each().to_string();
            // The eras alternate, as among the clients.
            let era = if number.is_multiple_of(2) { "modern" } else { "legacy" };
            let args = json!(["journal", "--era", era, "--tools", tools, "--journal", journal]);
            servers.insert(SoakPlan::server(number), json!({"command": fixture, "args": args}));
        }
        let config = json!({"mcpServers": servers, "settings": {"builtin": false}});
        place.home.write("own/config.json", config.to_string());
        place.home.write("system/.keep", "");
        place
    }

    pub(super) fn journals(&self) -> Journals {
        Journals::in_folder(self.home.path())
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        let home = self.home.path();
        command.args(words).current_dir(home).env("HOME", home).kill_on_drop(true);
        command.env("SWITCHBOARD_HOME", home.join("own"));
        command.env("SWITCHBOARD_SYSTEM", home.join("system"));
        command.stdin(Stdio::null());
        command
    }

    /// Runs a command of `switchboard` and returns its standard output.
    pub(super) async fn run(&self, words: &[&str]) -> Result<Vec<u8>, SoakError> {
        let output = self.command(words).output().await?;
        if !output.status.success() {
            let told = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(format!("`switchboard {}` failed: {told}", words.join(" ")).into());
        }
        Ok(output.stdout)
    }

    /// Starts the gateway and waits until it listens.
    pub(super) async fn start(&self) -> Result<SoakGateway, SoakError> {
        let words = ["serve", "--json", "--listen", "127.0.0.1:0", "--tools", "all"];
        let log = std::fs::File::create(self.home.path().join("log"))?;
        let mut process = self.command(&words).stdout(Stdio::piped()).stderr(log).spawn()?;
        let output = process.stdout.take().ok_or("the gateway has no output")?;
        let mut line = String::new();
        let reading = BufReader::new(output).read_line(&mut line).await.map(|_| line);
        let told: Value = serde_json::from_str(&reading?)
            .map_err(|_| format!("the gateway did not start: {}", self.log()))?;
        let url = told["url"].as_str().and_then(|url| url.strip_prefix("http://"));
        let address = url.and_then(|url| url.split('/').next()).ok_or("no address was told")?;
        Ok(SoakGateway { process, address: address.to_owned() })
    }

    /// Returns the recorded rows of every client, and the number of rows of other callers.
    pub(super) async fn rows(
        &self,
        clients: usize,
    ) -> Result<(Vec<Vec<RecordRow>>, usize), SoakError> {
        let names: HashMap<String, usize> = (0..clients)
            .map(|number| (format!("client:{}", SoakPlan::client(number)), number))
            .collect();
        let mut rows = vec![Vec::new(); clients];
        let mut strangers = 0;
        let mut last: Option<String> = None;
        loop {
            let limit = PAGE.to_string();
            let mut words = vec!["calls", "--json", "--full", "--limit", &limit];
            words.extend(last.iter().flat_map(|last| ["--before", last]));
            let page: Vec<Value> = serde_json::from_slice(&self.run(&words).await?)?;
            for row in &page {
                let client = row["caller"].as_str().and_then(|caller| names.get(caller));
                match client.and_then(|client| rows.get_mut(*client)) {
                    Some(rows) => rows.push(read_row(row)),
                    None => strangers += 1,
                }
            }
            if page.len() < PAGE {
                break;
            }
            last = page.last().and_then(|row| row["id"].as_str()).map(str::to_owned);
        }
        Ok((rows, strangers))
    }

    /// Returns the gateway's standard error.
    pub(super) fn log(&self) -> String {
        std::fs::read_to_string(self.home.path().join("log")).unwrap_or_default()
    }
}

impl SoakGateway {
    pub(super) fn id(&self) -> Option<u32> {
        self.process.id()
    }

    /// Waits until every server's tools are listed.
    pub(super) async fn wait_ready(&self, tools: usize) -> Result<(), SoakError> {
        let until = Instant::now() + READY_TIMEOUT;
        loop {
            let listed = super::client::count_tools(&self.address).await?;
            if listed == tools {
                return Ok(());
            }
            if Instant::now() > until {
                return Err(format!("{listed} of {tools} tools are listed").into());
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    /// Sends SIGTERM and waits for a successful exit.
    pub(super) async fn stop(mut self) -> Result<(), SoakError> {
        let process = self.process.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        kill_process(process.ok_or("the gateway is gone")?, Signal::TERM)?;
        let status = tokio::time::timeout(CLOSE_GRACE, self.process.wait()).await;
        let status = status.map_err(|_| "the gateway did not end")??;
        if status.success() {
            Ok(())
        } else {
            Err(format!("the gateway ended with {status}").into())
        }
    }
}

const PAGE: usize = 10_000;

fn read_row(row: &Value) -> RecordRow {
    let text = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
    RecordRow {
        id: text("id"),
        server: text("server"),
        target: text("target"),
        outcome: row["outcome"].as_str().map(str::to_owned),
        call: row["arguments"]["id"].as_str().unwrap_or_default().to_owned(),
    }
}
