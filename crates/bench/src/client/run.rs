//! `client <contestant> ...`: connects one client, then measures on demand.

use std::fmt::Write as _;
use std::process::Stdio;
use std::time::Duration;

use bytes::{Buf as _, Bytes, BytesMut};
use clap::Args;
use serde_json::json;
use switchboard_host::Recording;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use super::engine_client::{EngineClient, EngineServer};
use super::floor::{FloorHttp, FloorStdio};
use super::wire_client::RmcpClient;
use super::wire_client::WireClient;
use crate::calls::ClientContestant;
use crate::error::Result;
use crate::load::{CallLoad, serve_load};

/// Parameters of `initialize` that the floor sends.
pub(super) const INITIALIZE: &str = concat!(
    r#"{"protocolVersion":"2025-11-25","capabilities":{},"#,
    r#""clientInfo":{"name":"floor","version":"1"}}"#
);

#[derive(Args)]
pub(crate) struct ClientOptions {
    contestant: ClientContestant,
    #[command(flatten)]
    load: CallLoad,
    /// Address of the server; without it, a server is started over stdio
    #[arg(long)]
    url: Option<String>,
}

/// Connects one client and executes orders until the input ends.
pub(crate) async fn run(options: ClientOptions) -> Result<()> {
    // Our HTTP client and rmcp's need a TLS provider; both get the same one.
    switchboard_wire::prepare_tls();
    serve_as(options.contestant, options.url.as_deref(), options.load).await
}

async fn serve_as(contestant: ClientContestant, url: Option<&str>, load: CallLoad) -> Result<()> {
    let text = "x".repeat(load.bytes);
    let arguments = format!(r#"{{"text":"{text}"}}"#);
    let params = format!(r#"{{"name":"echo","arguments":{arguments}}}"#);
    match (contestant, url) {
        (ClientContestant::Floor, None) => {
            serve_load(&FloorStdio::start(piped_server(&[])?, params).await?, load).await
        }
        (ClientContestant::Floor, Some(url)) => {
            serve_load(&FloorHttp::start(url, params).await?, load).await
        }
        (ClientContestant::Wire, None) => {
            serve_load(&WireClient::over_stdio(piped_server(&[])?, params).await?, load).await
        }
        (ClientContestant::Wire, Some(url)) => {
            serve_load(&WireClient::over_http(url, params).await?, load).await
        }
        (ClientContestant::Rmcp, None) => {
            let arguments = serde_json::from_value(json!({ "text": text }))?;
            serve_load(&RmcpClient::over_stdio(piped_server(&[])?, arguments).await?, load).await
        }
        (ClientContestant::Rmcp, Some(url)) => {
            let arguments = serde_json::from_value(json!({ "text": text }))?;
            serve_load(&RmcpClient::over_http(url, arguments).await?, load).await
        }
        (ClientContestant::Line | ClientContestant::Ledger, url) => {
            let recording =
                if contestant == ClientContestant::Ledger { Recording::On } else { Recording::Off };
            let server = url.map_or_else(|| EngineServer::Stdio(Vec::new()), EngineServer::Http);
            let line = EngineClient::start(server, recording, arguments).await?;
            let obeyed = serve_load(&line, load).await;
            line.stop().await;
            obeyed
        }
        (ClientContestant::TypeScript | ClientContestant::Python, _) => {
            Err("the SDKs of other languages have separate programs".into())
        }
    }
}

/// Starts a server with each list of arguments and waits until the floor has received the tools of
/// all.
pub(crate) async fn start_bare(servers: Vec<Vec<String>>) -> Result<()> {
    let starts: Vec<_> = servers
        .into_iter()
        .map(|words| {
            tokio::spawn(async move {
                let floor = FloorStdio::start(piped_server(&words)?, String::new()).await?;
                floor.list_tools().await
            })
        })
        .collect();
    for start in starts {
        start.await??;
    }
    Ok(())
}

/// Serializes a request.
pub(super) fn request(id: u64, method: &str, params: &str) -> Vec<u8> {
    let mut text = String::with_capacity(params.len() + 96);
    // Writing to a `String` cannot fail.
    _ = write!(text, r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#);
    text.into_bytes()
}

/// A process and its pipes. Dropping it ends the process.
pub(crate) struct PipedProcess {
    pub(crate) input: ChildStdin,
    pub(crate) output: ChildStdout,
    pub(crate) process: Child,
}

/// Starts the server over stdio, with further arguments.
pub(crate) fn piped_server(words: &[String]) -> Result<PipedProcess> {
    start_piped(command("stdio")?.args(words))
}

/// Starts a program with pipes for its standard input and output.
pub(crate) fn start_piped(command: &mut Command) -> Result<PipedProcess> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    let mut process = command.spawn()?;
    let (Some(input), Some(output)) = (process.stdin.take(), process.stdout.take()) else {
        return Err("the process has no pipes".into());
    };
    Ok(PipedProcess { input, output, process })
}

/// The server over HTTP. Dropping it ends the process.
pub(crate) struct HttpServer {
    pub(crate) url: String,
    _input: ChildStdin,
    _process: Child,
}

impl HttpServer {
    pub(crate) async fn start() -> Result<Self> {
        let server = start_piped(&mut command("http")?)?;
        let mut url = String::new();
        let mut reader = BufReader::new(server.output);
        let read = tokio::time::timeout(Duration::from_secs(10), reader.read_line(&mut url));
        read.await.map_err(|_| "the HTTP server did not print its address")??;
        Ok(Self { url: url.trim().to_owned(), _input: server.input, _process: server.process })
    }
}

fn command(transport: &str) -> Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["raw-server", transport]);
    Ok(command)
}

/// Passes each line, without its line break, to `take` until the output ends.
pub(crate) async fn each_line(
    mut from: ChildStdout,
    mut take: impl FnMut(Bytes) -> Result<()>,
) -> Result<()> {
    let mut buffer = BytesMut::new();
    let mut searched = 0;
    loop {
        buffer.reserve(64 << 10);
        if from.read_buf(&mut buffer).await? == 0 {
            return Ok(());
        }
        while let Some(length) =
            buffer.get(searched..).and_then(|fresh| memchr::memchr(b'\n', fresh))
        {
            let line = buffer.split_to(searched + length).freeze();
            buffer.advance(1);
            searched = 0;
            take(line)?;
        }
        searched = buffer.len();
    }
}
