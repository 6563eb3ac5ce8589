//! A client in a process of its own, which measures itself whenever it is told to.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout};

use super::case::CallCase;
use super::contestant::ClientContestant;
use crate::error::Result;
use crate::load::{CallLoad, LoadResult};

/// No measurement takes longer, not even on a machine with other things to do.
const MEASURE_TIMEOUT: Duration = Duration::from_secs(120);
/// How long a process may take to leave before it is killed.
const CLOSE_GRACE: Duration = Duration::from_secs(10);

/// A process that waits to be told.
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
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut process = command.spawn()?;
        let (Some(input), Some(output)) = (process.stdin.take(), process.stdout.take()) else {
            return Err("a client has no pipes".into());
        };
        Ok(Self { contestant, input, output: BufReader::new(output), process })
    }

    /// Lets it call for a while and returns what came of it.
    pub(super) async fn measure(&mut self, milliseconds: u64) -> Result<LoadResult> {
        let title = self.contestant.title();
        self.input.write_all(format!("{milliseconds}\n").as_bytes()).await?;
        let mut line = String::new();
        let read = tokio::time::timeout(MEASURE_TIMEOUT, self.output.read_line(&mut line)).await;
        read.map_err(|_| format!("`{title}` took longer than {MEASURE_TIMEOUT:?}"))??;
        serde_json::from_str(&line).map_err(|_| format!("`{title}` printed no result").into())
    }

    /// Ends the process: its input closes, and it leaves or is killed.
    pub(super) async fn stop(mut self) {
        drop(self.input);
        if tokio::time::timeout(CLOSE_GRACE, self.process.wait()).await.is_err() {
            // The process may have exited since the timeout.
            _ = self.process.kill().await;
        }
    }
}
