//! `load-client`: the client that every gateway is measured with, controlled line by line.

use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use serde::{Deserialize, Serialize};
use tokio::process::Command;

use super::endpoint::{BenchEndpoint, EndpointCaller, EndpointProtocol, params};
use super::floor::FloorStdio;
use super::run::start_piped;
use crate::error::Result;
use crate::load::{CallLoad, LoadClient, LoadResult, run};

/// How long a gateway may take to start and answer a call.
const FIRST_ANSWER_TIMEOUT: Duration = Duration::from_secs(60);
/// How long to wait before the next attempt to reach a gateway.
const RETRY_DELAY: Duration = Duration::from_millis(5);

#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(crate) struct LoadOrder {
    pub(crate) milliseconds: u64,
    pub(crate) bytes: usize,
    pub(crate) in_flight: usize,
    /// Number of connections, which take turns; at least the number of calls in flight.
    pub(crate) connections: usize,
}

#[derive(Args)]
pub(crate) struct LoadClientOptions {
    #[arg(long)]
    speech: EndpointProtocol,
    #[arg(long)]
    tool: String,
    #[arg(long)]
    url: Option<String>,
    /// Command of a gateway over stdio, as a JSON array
    #[arg(long)]
    command: Option<String>,
}

enum LoadTarget {
    Http(Arc<BenchEndpoint>),
    Pipe(FloorStdio, String),
}

/// Connects, prints an empty line, and executes orders until the input ends.
///
/// Once the connections for an order are ready, prints an empty line and waits for another line of
/// input. Then executes the order and prints the result. The caller measures the gateway in
/// between.
pub(crate) async fn load(options: LoadClientOptions) -> Result<()> {
    let LoadClientOptions { speech, tool, url, command } = options;
    let target = match (url, command) {
        (Some(url), None) => {
            LoadTarget::Http(Arc::new(connect_when_ready(&url, &tool, speech).await?))
        }
        (None, Some(command)) => {
            let command: Vec<String> = serde_json::from_str(&command)?;
            let (program, arguments) = command.split_first().ok_or("the command is empty")?;
            let mut command = Command::new(program);
            let server = start_piped(command.args(arguments).stderr(Stdio::null()))?;
            let floor = FloorStdio::start(server, params(&tool, speech, 1)).await?;
            floor.call().await?;
            LoadTarget::Pipe(floor, tool.clone())
        }
        _ => return Err("either `--url` or `--command` is needed".into()),
    };
    println!();
    while let Some(line) = next_line().await? {
        let order: LoadOrder = serde_json::from_str(&line)?;
        let prepared = match &target {
            LoadTarget::Http(endpoint) => {
                endpoint.connect(order.connections.max(order.in_flight)).await
            }
            LoadTarget::Pipe(..) => Ok(()),
        };
        println!();
        next_line().await?;
        let done = match prepared {
            Ok(()) => run_order(&target, speech, order).await,
            Err(failure) => Err(failure),
        };
        let done: std::result::Result<LoadResult, String> = done.map_err(|error| error.to_string());
        println!("{}", serde_json::to_string(&done)?);
    }
    Ok(())
}

async fn next_line() -> Result<Option<String>> {
    let read = tokio::task::spawn_blocking(|| std::io::stdin().lines().next().transpose());
    Ok(read.await??)
}

async fn run_order(
    target: &LoadTarget,
    speech: EndpointProtocol,
    order: LoadOrder,
) -> Result<LoadResult> {
    let LoadOrder { milliseconds, bytes, in_flight, .. } = order;
    let load = CallLoad { bytes, in_flight };
    let length = Duration::from_millis(milliseconds);
    match target {
        LoadTarget::Http(endpoint) => {
            run(&EndpointCaller::new(Arc::clone(endpoint), bytes), load, length).await
        }
        LoadTarget::Pipe(floor, tool) => {
            run(&floor.with_params(params(tool, speech, bytes)), load, length).await
        }
    }
}

/// Retries until a call is answered.
async fn connect_when_ready(
    url: &str,
    tool: &str,
    speech: EndpointProtocol,
) -> Result<BenchEndpoint> {
    let until = Instant::now() + FIRST_ANSWER_TIMEOUT;
    loop {
        let failure = match first_call(url, tool, speech).await {
            Ok(endpoint) => return Ok(endpoint),
            Err(failure) => failure,
        };
        if Instant::now() > until {
            return Err(format!("no answer within {FIRST_ANSWER_TIMEOUT:?}: {failure}").into());
        }
        tokio::time::sleep(RETRY_DELAY).await;
    }
}

async fn first_call(url: &str, tool: &str, speech: EndpointProtocol) -> Result<BenchEndpoint> {
    let endpoint = BenchEndpoint::open(url, tool, speech).await?;
    endpoint.connect(1).await?;
    let endpoint = Arc::new(endpoint);
    EndpointCaller::new(Arc::clone(&endpoint), 1).call().await?;
    Arc::into_inner(endpoint).ok_or_else(|| "the endpoint is still in use".into())
}
