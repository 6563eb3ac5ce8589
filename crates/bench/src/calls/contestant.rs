//! The measured clients, and how each is started.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use clap::ValueEnum;
use serde::Serialize;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::client::{PipedProcess, start_piped};
use crate::error::Result;
use crate::load::{CallLoad, LoadResult};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ClientContestant {
    Floor,
    Wire,
    Line,
    Ledger,
    Rmcp,
    TypeScript,
    Python,
}

impl ClientContestant {
    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::Floor => "floor: a bare client",
            Self::Wire => "ours: the wire",
            Self::Line => "ours: the whole line",
            Self::Ledger => "ours: the whole line, recorded",
            Self::Rmcp => "rmcp 3.8.0",
            Self::TypeScript => "TypeScript SDK",
            Self::Python => "Python SDK",
        }
    }

    /// Returns the length of its warm-up in turns. V8 needs a long one, because it compiles hot
    /// functions in the background, in several steps.
    pub(super) const fn warm_up(self) -> u64 {
        if matches!(self, Self::TypeScript) { 20 } else { 3 }
    }

    /// Whether its runtime and SDK are installed.
    pub(super) fn is_available(self, testenv: Option<&Path>) -> bool {
        match (self, testenv) {
            (Self::TypeScript, Some(testenv)) => {
                testenv.join("npm/node_modules/@modelcontextprotocol/sdk").is_dir()
            }
            (Self::Python, Some(testenv)) => testenv.join("python/bin/python").exists(),
            (Self::TypeScript | Self::Python, None) => false,
            _ => true,
        }
    }

    /// Returns the command of the program that measures it, which takes orders on standard input.
    pub(super) fn command(
        self,
        load: CallLoad,
        url: Option<&str>,
        testenv: Option<&Path>,
    ) -> Result<Command> {
        let ours = std::env::current_exe()?;
        let mut command = match (self, testenv) {
            (Self::TypeScript, Some(testenv)) => {
                let modules = testenv.join("npm/node_modules");
                let mut command = Command::new(modules.join("node/bin/node"));
                command.arg(script("client.mjs")).arg("--modules").arg(modules);
                command
            }
            (Self::Python, Some(testenv)) => {
                let mut command = Command::new(testenv.join("python/bin/python"));
                command.arg(script("client.py"));
                command
            }
            _ => {
                let mut command = Command::new(&ours);
                let name = self.to_possible_value().ok_or("every client has a name")?;
                command.args(["client", name.get_name()]);
                command
            }
        };
        command.args([
            "--bytes",
            &load.bytes.to_string(),
            "--in-flight",
            &load.in_flight.to_string(),
        ]);
        match url {
            Some(url) => command.arg("--url").arg(url),
            None if matches!(self, Self::TypeScript | Self::Python) => {
                command.arg("--server").arg(&ours)
            }
            None => &mut command,
        };
        Ok(command)
    }
}

fn script(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("peers").join(name)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum CaseTransport {
    Stdio,
    Http,
}

/// A case that is measured for every client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct CallCase {
    pub(super) transport: CaseTransport,
    /// Bytes of text in each direction.
    pub(super) bytes: usize,
    /// Number of calls in flight.
    pub(super) in_flight: usize,
}

pub(super) const SMALL: usize = 200;
pub(super) const LARGE: usize = 1 << 20;
const SIZES: [usize; 3] = [SMALL, 64 << 10, LARGE];
/// Number of calls in flight in the concurrent cases.
pub(super) const MAX_IN_FLIGHT: usize = 64;

pub(super) fn all_cases() -> Vec<CallCase> {
    let mut cases = Vec::new();
    for transport in [CaseTransport::Stdio, CaseTransport::Http] {
        for bytes in SIZES {
            for in_flight in [1, MAX_IN_FLIGHT] {
                cases.push(CallCase { transport, bytes, in_flight });
            }
        }
    }
    cases
}

impl CallCase {
    /// Formats the payload size.
    pub(super) fn size(self) -> String {
        match self.bytes {
            bytes if bytes >= 1 << 20 => format!("{} MiB", bytes >> 20),
            bytes if bytes >= 1 << 10 => format!("{} KiB", bytes >> 10),
            bytes => format!("{bytes} B"),
        }
    }
}

impl fmt::Display for CaseTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Stdio => "stdio",
            Self::Http => "HTTP",
        })
    }
}

impl fmt::Display for CallCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let load = if self.in_flight == 1 { "one at a time" } else { "64 in flight" };
        write!(f, "{}, {}, {load}", self.transport, self.size())
    }
}

/// Maximum duration of a measurement, even on a busy machine.
const MEASURE_TIMEOUT: Duration = Duration::from_secs(120);
/// How long a process may take to exit before it is killed.
const CLOSE_GRACE: Duration = Duration::from_secs(10);

/// A client process that waits for orders.
pub(super) struct Contender {
    pub(super) contestant: ClientContestant,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    process: Child,
}

impl Contender {
    /// Starts a client for one case.
    pub(super) fn start(
        contestant: ClientContestant,
        case: CallCase,
        url: Option<&str>,
        testenv: Option<&Path>,
    ) -> Result<Self> {
        let load = CallLoad { bytes: case.bytes, in_flight: case.in_flight };
        let mut command = contestant.command(load, url, testenv)?;
        let PipedProcess { input, output, process } = start_piped(&mut command)?;
        Ok(Self { contestant, input, output: BufReader::new(output), process })
    }

    /// Runs one turn and returns the measurements.
    pub(super) async fn measure(&mut self, milliseconds: u64) -> Result<LoadResult> {
        let title = self.contestant.title();
        self.input.write_all(format!("{milliseconds}\n").as_bytes()).await?;
        let mut line = String::new();
        let read = tokio::time::timeout(MEASURE_TIMEOUT, self.output.read_line(&mut line)).await;
        read.map_err(|_| format!("`{title}` took longer than {MEASURE_TIMEOUT:?}"))??;
        serde_json::from_str(&line).map_err(|_| format!("`{title}` printed no result").into())
    }

    /// Closes the input of the process, and kills it if it does not exit.
    pub(super) async fn stop(mut self) {
        drop(self.input);
        if tokio::time::timeout(CLOSE_GRACE, self.process.wait()).await.is_err() {
            // The process may have exited since the timeout.
            _ = self.process.kill().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::all_cases;

    #[test]
    fn cases_are_named_as_people_would() {
        let names: Vec<String> = all_cases().iter().map(ToString::to_string).collect();
        assert_eq!(names.len(), 12);
        assert_eq!(names.first().unwrap(), "stdio, 200 B, one at a time");
        assert_eq!(names.last().unwrap(), "HTTP, 1 MiB, 64 in flight");
    }
}
