//! HTTP in, lines out: a body becomes a line, and the line with the same id becomes the answer.

use std::collections::HashMap;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, Response, StatusCode};
use axum::routing::post;
use bytes::{Buf as _, Bytes, BytesMut};
use serde::Deserialize;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::{Notify, oneshot};

use crate::error::Result;

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

/// Everything that is posted goes to one server over pipes.
pub(super) fn router() -> Result<Router> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["raw-server", "stdio"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    let mut process = command.spawn()?;
    let (Some(input), Some(output)) = (process.stdin.take(), process.stdout.take()) else {
        return Err("the server has no pipes".into());
    };
    let upstream = Arc::new(PipeUpstream {
        waiting: Mutex::default(),
        unsent: Mutex::default(),
        wake: Notify::new(),
        _process: process,
    });
    tokio::spawn(write(Arc::clone(&upstream), input));
    tokio::spawn(read(Arc::clone(&upstream), output));
    Ok(Router::new()
        .route("/mcp", post(forward))
        .layer(DefaultBodyLimit::max(64 << 20))
        .with_state(upstream))
}

async fn forward(State(upstream): State<Arc<PipeUpstream>>, body: Bytes) -> Response<Body> {
    let id = serde_json::from_slice::<ForwardedMessage>(&body).ok().and_then(|message| message.id);
    let answered = id.map(|id| {
        let (settle, settled) = oneshot::channel();
        upstream.waiting.lock().unwrap_or_else(PoisonError::into_inner).insert(id, settle);
        settled
    });
    {
        let mut unsent = upstream.unsent.lock().unwrap_or_else(PoisonError::into_inner);
        unsent.extend_from_slice(&body);
        unsent.push(b'\n');
    }
    upstream.wake.notify_one();
    let Some(answered) = answered else { return empty(StatusCode::ACCEPTED) };
    let Ok(line) = answered.await else { return empty(StatusCode::BAD_GATEWAY) };
    let mut response = Response::new(Body::from(line));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

fn empty(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}

async fn write(upstream: Arc<PipeUpstream>, mut to: ChildStdin) -> Result<()> {
    let mut batch = Vec::new();
    loop {
        batch.clear();
        std::mem::swap(
            &mut batch,
            &mut *upstream.unsent.lock().unwrap_or_else(PoisonError::into_inner),
        );
        if batch.is_empty() {
            upstream.wake.notified().await;
        } else {
            to.write_all(&batch).await?;
        }
    }
}

async fn read(upstream: Arc<PipeUpstream>, mut from: ChildStdout) -> Result<()> {
    let mut buffer = BytesMut::new();
    let mut searched = 0;
    loop {
        buffer.reserve(64 << 10);
        if from.read_buf(&mut buffer).await? == 0 {
            upstream.waiting.lock().unwrap_or_else(PoisonError::into_inner).clear();
            return Ok(());
        }
        while let Some(length) =
            buffer.get(searched..).and_then(|fresh| memchr::memchr(b'\n', fresh))
        {
            let line = buffer.split_to(searched + length).freeze();
            buffer.advance(1);
            searched = 0;
            let Some(id) = serde_json::from_slice::<ForwardedMessage>(&line)?.id else { continue };
            let waiting =
                upstream.waiting.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
            if let Some(settle) = waiting {
                // The client may have disconnected; its answer is not needed then.
                _ = settle.send(line);
            }
        }
        searched = buffer.len();
    }
}
