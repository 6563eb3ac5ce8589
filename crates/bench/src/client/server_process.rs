//! Starts the server that clients are measured against.

use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::error::Result;

/// The server over pipes; it ends when they are dropped.
pub(super) struct StdioServer {
    pub(super) input: ChildStdin,
    pub(super) output: ChildStdout,
    pub(super) process: Child,
}

/// Starts the server over pipes, with these further words.
pub(super) fn start_stdio(words: &[String]) -> Result<StdioServer> {
    start_command(command("stdio")?.args(words))
}

/// Starts whatever speaks over pipes.
pub(super) fn start_command(command: &mut Command) -> Result<StdioServer> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    let mut process = command.spawn()?;
    let (Some(input), Some(output)) = (process.stdin.take(), process.stdout.take()) else {
        return Err("the server has no pipes".into());
    };
    Ok(StdioServer { input, output, process })
}

/// The server over HTTP; it ends when this is dropped.
pub(crate) struct HttpServer {
    pub(crate) url: String,
    _process: Child,
}

impl HttpServer {
    pub(crate) async fn start() -> Result<Self> {
        let mut command = command("http")?;
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut process = command.spawn()?;
        let output = process.stdout.take().ok_or("the server has no output")?;
        let mut url = String::new();
        let mut reader = BufReader::new(output);
        let read = tokio::time::timeout(Duration::from_secs(10), reader.read_line(&mut url));
        read.await.map_err(|_| "the HTTP server did not say its address")??;
        Ok(Self { url: url.trim().to_owned(), _process: process })
    }
}

fn command(transport: &str) -> Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["raw-server", transport]);
    Ok(command)
}
