//! `raw-server stdio|http`: runs the server over one of the transports.

use std::io::{Read as _, Write as _};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use axum::serve::ListenerExt as _;
use bytes::Bytes;
use clap::{Args, ValueEnum};
use tokio::net::TcpListener;

use super::answer::RawAnswers;
use crate::error::Result;

#[derive(Args)]
pub(crate) struct RawServerOptions {
    transport: RawTransport,
    #[arg(long, default_value_t = 1)]
    tools: usize,
    /// How long the server takes to start
    #[arg(long, default_value_t = 0)]
    delay_ms: u64,
}

#[derive(Clone, Copy, ValueEnum)]
enum RawTransport {
    Stdio,
    Http,
}

/// Runs the server until its input ends.
pub(crate) fn run(options: &RawServerOptions) -> Result<()> {
    let answers = RawAnswers::new(options.tools);
    // Blocks on purpose: a server that starts slowly reads nothing until it has started.
    std::thread::sleep(Duration::from_millis(options.delay_ms));
    match options.transport {
        RawTransport::Stdio => serve_stdio(&answers),
        RawTransport::Http => {
            let runtime = tokio::runtime::Runtime::new()?;
            let served = runtime.block_on(serve_http(answers));
            // Does not wait for the thread that blocks on standard input, which cannot be stopped.
            runtime.shutdown_background();
            served
        }
    }
}

const READ_BYTES: usize = 256 << 10;

/// Answers lines until the input ends, with one write for all lines of a read.
fn serve_stdio(answers: &RawAnswers) -> Result<()> {
    let mut input = std::io::stdin().lock();
    let mut output = raw_output()?;
    let mut buffer = vec![0; READ_BYTES];
    let mut filled = 0;
    let mut searched = 0;
    let mut out = Vec::new();
    loop {
        if buffer.len() - filled < READ_BYTES / 2 {
            buffer.resize(buffer.len() * 2, 0);
        }
        let Some(room) = buffer.get_mut(filled..) else { return Ok(()) };
        let read = input.read(room)?;
        if read == 0 {
            return Ok(());
        }
        filled += read;
        let mut start = 0;
        while let Some(length) =
            buffer.get(searched..filled).and_then(|fresh| memchr::memchr(b'\n', fresh))
        {
            let end = searched + length;
            if let Some(line) = buffer.get(start..end)
                && answers.write(line, &mut out)
            {
                out.push(b'\n');
            }
            start = end + 1;
            searched = start;
        }
        buffer.copy_within(start..filled, 0);
        filled -= start;
        searched = filled;
        output.write_all(&out)?;
        out.clear();
    }
}

/// Returns standard output without the line buffer of the standard library.
#[cfg(unix)]
pub(crate) fn raw_output() -> Result<std::fs::File> {
    use std::os::fd::AsFd as _;
    Ok(std::io::stdout().as_fd().try_clone_to_owned()?.into())
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "the other platforms can fail")]
pub(crate) fn raw_output() -> Result<std::io::Stdout> {
    Ok(std::io::stdout())
}

/// Prints the address, then answers until standard input ends.
async fn serve_http(answers: RawAnswers) -> Result<()> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let address = listener.local_addr()?;
    writeln!(std::io::stdout(), "http://{address}/mcp")?;
    let router = Router::new()
        .route("/mcp", post(answer))
        .layer(DefaultBodyLimit::max(64 << 20))
        .with_state(Arc::new(answers));
    let prompt = listener.tap_io(|stream| {
        // Without it, an answer in two writes waits for the client's delayed acknowledgement. A
        // failure is ignored, because late answers are still correct.
        _ = stream.set_nodelay(true);
    });
    tokio::select! {
        served = axum::serve(prompt, router) => Ok(served?),
        () = input_ended() => Ok(()),
    }
}

async fn answer(State(answers): State<Arc<RawAnswers>>, body: Bytes) -> Response {
    let mut out = Vec::with_capacity(body.len() + 128);
    if answers.write(&body, &mut out) {
        ([(CONTENT_TYPE, "application/json")], out).into_response()
    } else {
        StatusCode::ACCEPTED.into_response()
    }
}

/// Waits for the end of standard input: the parent process holds the other end.
async fn input_ended() {
    let ended = tokio::task::spawn_blocking(|| {
        let mut byte = [0];
        while std::io::Read::read(&mut std::io::stdin(), &mut byte).is_ok_and(|read| read > 0) {}
    });
    // Also after a panic: without its reader, the server could not see the end of the input.
    _ = ended.await;
}
