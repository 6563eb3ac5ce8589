//! `forward`: the floor of gateways, a proxy that forwards bytes and parses only ids.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::header::{CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use axum::serve::ListenerExt as _;
use bytes::Bytes;
use clap::Args;
use parking_lot::{Mutex, MutexGuard};
use reqwest::{Client, Url};
use serde::Deserialize;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpListener;
use tokio::process::{Child, ChildStdin};
use tokio::sync::{Notify, oneshot};

use crate::client::{PipedProcess, each_line, piped_server};
use crate::error::Result;
use crate::server::raw_output;

const COPY_BYTES: usize = 64 << 10;
const MAX_BODY_BYTES: usize = 64 << 20;

#[derive(Args)]
pub(crate) struct ForwardOptions {
    /// Listen for HTTP requests at this address; otherwise use stdio
    #[arg(long)]
    listen: Option<String>,
    /// Forward to this address; otherwise to a stdio server
    #[arg(long)]
    url: Option<String>,
}

/// Forwards until the process is killed or, over stdio, until its input ends.
pub(crate) async fn run(options: ForwardOptions) -> Result<()> {
    match (options.listen, options.url) {
        (Some(listen), Some(url)) => serve(&listen, web_router(&url)?).await,
        (Some(listen), None) => serve(&listen, pipe_router()?).await,
        (None, _) => tokio::task::spawn_blocking(copy_pipes).await?,
    }
}

async fn serve(listen: &str, router: Router) -> Result<()> {
    let listener = TcpListener::bind(listen).await?;
    let prompt = listener.tap_io(|stream| {
        // Ignored: a failure only delays answers, which the measurement shows.
        _ = stream.set_nodelay(true);
    });
    Ok(axum::serve(prompt, router.layer(DefaultBodyLimit::max(MAX_BODY_BYTES))).await?)
}

struct HttpUpstream {
    client: Client,
    url: Url,
}

/// Forwards HTTP to HTTP: one request per request, with headers and body as received.
fn web_router(url: &str) -> Result<Router> {
    switchboard_wire::prepare_tls();
    let client = Client::builder().tcp_nodelay(true).no_proxy().build()?;
    let upstream = HttpUpstream { client, url: url.parse()? };
    Ok(Router::new().route("/mcp", post(forward)).with_state(Arc::new(upstream)))
}

async fn forward(
    State(upstream): State<Arc<HttpUpstream>>,
    mut headers: HeaderMap,
    body: Bytes,
) -> Response {
    // These describe the incoming connection; the client sets its own.
    for name in [HOST, CONTENT_LENGTH, CONNECTION] {
        headers.remove(name);
    }
    let sent = upstream.client.post(upstream.url.clone()).headers(headers).body(body).send().await;
    let Ok(answer) = sent else { return StatusCode::BAD_GATEWAY.into_response() };
    let status = answer.status();
    let kind = answer.headers().get(CONTENT_TYPE).cloned();
    let Ok(body) = answer.bytes().await else { return StatusCode::BAD_GATEWAY.into_response() };
    let mut response = (status, body).into_response();
    match kind {
        Some(kind) => _ = response.headers_mut().insert(CONTENT_TYPE, kind),
        // `into_response` has set a default type.
        None => _ = response.headers_mut().remove(CONTENT_TYPE),
    }
    response
}

struct PipeUpstream {
    waiting: Mutex<HashMap<u64, oneshot::Sender<Bytes>>>,
    unsent: Mutex<Vec<u8>>,
    wake: Notify,
    _process: Child,
}

#[derive(Deserialize)]
struct ForwardedMessage {
    id: Option<u64>,
}

/// Forwards HTTP to stdio: a body becomes a line, and the line with the same id becomes the answer.
fn pipe_router() -> Result<Router> {
    let PipedProcess { input, output, process } = piped_server(&[])?;
    let upstream = Arc::new(PipeUpstream {
        waiting: Mutex::default(),
        unsent: Mutex::default(),
        wake: Notify::new(),
        _process: process,
    });
    tokio::spawn(write(Arc::clone(&upstream), input));
    let answered = Arc::clone(&upstream);
    tokio::spawn(async move {
        let read = each_line(output, |line| {
            let Some(id) = serde_json::from_slice::<ForwardedMessage>(&line)?.id else {
                return Ok(());
            };
            if let Some(settle) = answered.waiting().remove(&id) {
                // Fails if the client has disconnected; the answer is not needed then.
                _ = settle.send(line);
            }
            Ok(())
        });
        let ended = read.await;
        // Dropping the senders answers all pending requests with 502.
        answered.waiting().clear();
        ended
    });
    Ok(Router::new().route("/mcp", post(forward_line)).with_state(upstream))
}

impl PipeUpstream {
    fn waiting(&self) -> MutexGuard<'_, HashMap<u64, oneshot::Sender<Bytes>>> {
        self.waiting.lock()
    }
}

async fn forward_line(State(upstream): State<Arc<PipeUpstream>>, body: Bytes) -> Response {
    let id = serde_json::from_slice::<ForwardedMessage>(&body).ok().and_then(|message| message.id);
    let answered = id.map(|id| {
        let (settle, settled) = oneshot::channel();
        upstream.waiting().insert(id, settle);
        settled
    });
    {
        let mut unsent = upstream.unsent.lock();
        unsent.extend_from_slice(&body);
        unsent.push(b'\n');
    }
    upstream.wake.notify_one();
    let Some(answered) = answered else { return StatusCode::ACCEPTED.into_response() };
    match answered.await {
        Ok(line) => ([(CONTENT_TYPE, "application/json")], line).into_response(),
        Err(_) => StatusCode::BAD_GATEWAY.into_response(),
    }
}

async fn write(upstream: Arc<PipeUpstream>, mut to: ChildStdin) -> Result<()> {
    let mut batch = Vec::new();
    loop {
        batch.clear();
        std::mem::swap(&mut batch, &mut *upstream.unsent.lock());
        if batch.is_empty() {
            upstream.wake.notified().await;
        } else {
            to.write_all(&batch).await?;
        }
    }
}

/// Copies stdio to stdio: two threads between the pipes of this process and those of one server.
fn copy_pipes() -> Result<()> {
    use std::process::{Command, Stdio};

    let mut command = Command::new(std::env::current_exe()?);
    command.args(["raw-server", "stdio"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut process = command.spawn()?;
    let (Some(input), Some(output)) = (process.stdin.take(), process.stdout.take()) else {
        return Err("the server has no pipes".into());
    };
    let ours = raw_output()?;
    let back = std::thread::spawn(move || carry(output, ours));
    carry(std::io::stdin(), input)?;
    back.join().map_err(|_| "the thread that copies the output panicked")??;
    process.wait()?;
    Ok(())
}

fn carry(mut from: impl Read, mut to: impl Write) -> Result<()> {
    let mut buffer = vec![0; COPY_BYTES];
    loop {
        let read = from.read(&mut buffer)?;
        let Some(text) = buffer.get(..read).filter(|text| !text.is_empty()) else { return Ok(()) };
        to.write_all(text)?;
    }
}
