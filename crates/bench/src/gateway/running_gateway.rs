//! A running gateway with the load client that calls through it.

use std::net::TcpListener;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use clap::ValueEnum as _;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use super::process_tree::{ProcessRoot, ProcessTree};
use super::recipe::{GatewayRecipe, RecipeContext, recipe};
use super::route::CallRoute;
use super::route::GatewayContestant;
use crate::client::{EndpointProtocol, HttpServer, LoadOrder, PipedProcess, start_piped};
use crate::error::{BenchError, Result};
use crate::load::LoadResult;

/// Maximum duration of a turn, even of a slow gateway on a busy machine.
const TURN_TIMEOUT: Duration = Duration::from_secs(90);
/// How long a process may take to exit before it is killed.
const CLOSE_GRACE: Duration = Duration::from_secs(5);

/// Folders of the peers and of the test environment, and the other build to measure.
#[derive(Clone, Copy)]
pub(super) struct ProgramPaths<'a> {
    pub(super) peers: &'a Path,
    pub(super) testenv: Option<&'a Path>,
    pub(super) baseline: Option<&'a Path>,
}

/// A gateway and its client. Dropping it ends all processes that were started.
pub(super) struct RunningGateway {
    /// Time from its start to its first answer.
    pub(super) ready: Duration,
    pub(super) idle_mb: f64,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    client: Child,
    gateway: Option<Child>,
    root: Option<ProcessRoot>,
    _upstream: Option<HttpServer>,
    _home: TempDir,
}

#[derive(Clone, Copy, Debug, serde::Serialize)]
pub(super) struct TurnResult {
    pub(super) calls: u64,
    pub(super) p50: f64,
    pub(super) p99: f64,
    pub(super) rate: f64,
    /// Processor time of the gateway per call, in microseconds.
    pub(super) cpu: f64,
    /// Resident memory in MB in the middle of the turn.
    pub(super) resident_mb: f64,
}

impl RunningGateway {
    /// Starts a gateway on a route and waits for its first answer.
    pub(super) async fn start(
        contestant: GatewayContestant,
        route: CallRoute,
        places: ProgramPaths<'_>,
    ) -> Result<Self> {
        let home = TempDir::new()?;
        let needs_server = route.has_http_upstream()
            || contestant == GatewayContestant::Direct && !route.has_pipe_client();
        let upstream = if needs_server { Some(HttpServer::start().await?) } else { None };
        let port = free_port()?;
        let around = RecipeContext {
            route,
            upstream: upstream.as_ref().map(|server| server.url.as_str()),
            port,
            home: home.path(),
            peers: places.peers,
            testenv: places.testenv,
            baseline: places.baseline,
        };
        let recipe = recipe(contestant, &around)?;
        let target = match recipe {
            Some(recipe) if route.has_pipe_client() => GatewayTarget::Pipe(recipe),
            Some(recipe) => GatewayTarget::Port(port, recipe),
            None => GatewayTarget::Url(
                upstream.as_ref().map_or_else(String::new, |one| one.url.clone()),
            ),
        };
        Self::start_with(target, contestant.speech(), contestant.tool(), home, upstream).await
    }

    /// Starts our gateway from the recipe that `make` returns.
    pub(super) async fn start_ours(
        make: impl FnOnce(&Path, &str) -> Result<GatewayRecipe>,
        speech: EndpointProtocol,
    ) -> Result<Self> {
        let home = TempDir::new()?;
        let port = free_port()?;
        let recipe = make(home.path(), &format!("127.0.0.1:{port}"))?;
        let tool = GatewayContestant::Recorded.tool();
        Self::start_with(GatewayTarget::Port(port, recipe), speech, tool, home, None).await
    }

    async fn start_with(
        target: GatewayTarget,
        speech: EndpointProtocol,
        tool: &str,
        home: TempDir,
        upstream: Option<HttpServer>,
    ) -> Result<Self> {
        let started = Instant::now();
        let mut command = Command::new(std::env::current_exe()?);
        let speech = speech.to_possible_value().ok_or("every protocol has a name")?;
        command.args(["load-client", "--speech", speech.get_name(), "--tool", tool]);
        let mut gateway = None;
        match &target {
            GatewayTarget::Url(url) => {
                command.args(["--url", url]);
            }
            GatewayTarget::Port(port, recipe) => {
                gateway = Some(spawn_gateway(recipe)?);
                command.args(["--url", &format!("http://127.0.0.1:{port}{}", recipe.path)]);
            }
            GatewayTarget::Pipe(recipe) => {
                command.envs(recipe.environment.iter().map(|(name, value)| (name, value)));
                command.args(["--command", &serde_json::to_string(&recipe.command)?]);
            }
        }
        let PipedProcess { input, output, process: client } = start_piped(&mut command)?;
        let mut output = BufReader::new(output);
        tokio::select! {
            greeted = line(&mut output) => greeted?,
            ended = exit_error(gateway.as_mut()) => return Err(ended),
        };
        let ready = started.elapsed();
        let root = match &target {
            GatewayTarget::Url(_) => None,
            GatewayTarget::Port(..) => {
                gateway.as_ref().and_then(Child::id).map(ProcessRoot::Process)
            }
            GatewayTarget::Pipe(_) => client.id().map(ProcessRoot::Below),
        };
        let idle_mb = root.map_or(f64::NAN, |root| ProcessTree::snapshot(root).resident_mb());
        let _upstream = upstream;
        Ok(Self { ready, idle_mb, input, output, client, gateway, root, _upstream, _home: home })
    }

    /// Runs one turn, in which the client calls through the gateway.
    pub(super) async fn turn(&mut self, order: LoadOrder) -> Result<TurnResult> {
        self.input.write_all(format!("{}\n", serde_json::to_string(&order)?).as_bytes()).await?;
        line(&mut self.output).await?;
        // After the client has connected, so that a gateway that closes idle connections does not
        // pay for new ones.
        let tree = self.root.map(ProcessTree::snapshot).filter(|tree| !tree.is_empty());
        let before = tree.as_ref().map(ProcessTree::processor_time);
        self.input.write_all(b"\n").await?;
        let middle = Duration::from_millis(order.milliseconds / 2);
        let (answer, resident_mb) = tokio::join!(line(&mut self.output), async {
            tokio::time::sleep(middle).await;
            self.root.map_or(f64::NAN, |root| ProcessTree::snapshot(root).resident_mb())
        });
        let answer: std::result::Result<LoadResult, String> = serde_json::from_str(&answer?)?;
        let after = tree.as_ref().map(ProcessTree::processor_time);
        let measured = answer?;
        let used = before.zip(after).map(|(before, after)| after.saturating_sub(before));
        Ok(TurnResult {
            calls: measured.calls,
            p50: measured.p50,
            p99: measured.p99,
            rate: measured.rate,
            cpu: used.map_or(f64::NAN, |used| used.as_secs_f64() * 1e6 / measured.calls as f64),
            resident_mb,
        })
    }

    /// Ends the client and the gateway, and kills them if they do not exit.
    pub(super) async fn stop(self) {
        drop(self.input);
        for process in [Some(self.client), self.gateway].into_iter().flatten() {
            stop_process(process).await;
        }
    }
}

enum GatewayTarget {
    Url(String),
    Port(u16, GatewayRecipe),
    Pipe(GatewayRecipe),
}

/// Asks a process to exit, and kills it after [`CLOSE_GRACE`].
pub(super) async fn stop_process(mut process: Child) {
    ask_to_leave(&process);
    if tokio::time::timeout(CLOSE_GRACE, process.wait()).await.is_err() {
        // The process may have exited since the timeout.
        _ = process.kill().await;
    }
}

/// Starts a gateway that clients reach over HTTP.
pub(super) fn spawn_gateway(recipe: &GatewayRecipe) -> Result<Child> {
    let (program, arguments) = recipe.command.split_first().ok_or("the command is empty")?;
    let mut command = Command::new(program);
    command.args(arguments).envs(recipe.environment.iter().map(|(name, value)| (name, value)));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    Ok(command.spawn().map_err(|error| format!("`{program}` did not start: {error}"))?)
}

/// Waits until the gateway exits and returns the error. Waits forever if the client started the
/// gateway.
async fn exit_error(gateway: Option<&mut Child>) -> BenchError {
    let Some(gateway) = gateway else { return std::future::pending().await };
    match gateway.wait().await {
        Ok(status) => format!("the gateway exited with {status}").into(),
        Err(error) => error.into(),
    }
}

async fn line(output: &mut BufReader<ChildStdout>) -> Result<String> {
    let mut line = String::new();
    let read = tokio::time::timeout(TURN_TIMEOUT, output.read_line(&mut line)).await;
    match read.map_err(|_| format!("no answer within {TURN_TIMEOUT:?}"))?? {
        0 => Err("the load client ended".into()),
        _ => Ok(line),
    }
}

/// Returns a port that is currently free. If another program takes it first, the gateway fails to
/// start.
pub(super) fn free_port() -> Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

#[cfg(unix)]
fn ask_to_leave(process: &Child) {
    use rustix::process::{Pid, Signal, kill_process};
    let id = process.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
    if let Some(id) = id {
        // The process may have exited already; the caller kills it if it does not exit.
        _ = kill_process(id, Signal::TERM);
    }
}

#[cfg(not(unix))]
fn ask_to_leave(_process: &Child) {}
