//! The server over HTTP: every answer is a JSON body.

use std::io::Write as _;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, Response, StatusCode};
use axum::routing::post;
use axum::serve::ListenerExt as _;
use bytes::Bytes;
use tokio::net::TcpListener;

use super::answer::RawAnswers;
use crate::error::Result;

/// Prints the address, then answers until standard input ends.
pub(super) async fn serve(answers: RawAnswers) -> Result<()> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let address = listener.local_addr()?;
    writeln!(std::io::stdout(), "http://{address}/mcp")?;
    let router = Router::new()
        .route("/mcp", post(answer))
        .layer(DefaultBodyLimit::max(64 << 20))
        .with_state(Arc::new(answers));
    let prompt = listener.tap_io(|stream| {
        // Without this, an answer in two writes waits for the client's delayed acknowledgement;
        // late answers are still correct ones.
        _ = stream.set_nodelay(true);
    });
    tokio::select! {
        served = axum::serve(prompt, router) => Ok(served?),
        () = input_ended() => Ok(()),
    }
}

async fn answer(State(answers): State<Arc<RawAnswers>>, body: Bytes) -> Response<Body> {
    let mut out = Vec::with_capacity(body.len() + 128);
    if !answers.write(&body, &mut out) {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::ACCEPTED;
        return response;
    }
    let mut response = Response::new(Body::from(out));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// Whoever started the server holds the other end of its input.
async fn input_ended() {
    let ended = tokio::task::spawn_blocking(|| {
        let mut byte = [0];
        while std::io::Read::read(&mut std::io::stdin(), &mut byte).is_ok_and(|read| read > 0) {}
    });
    // A reader that panicked cannot see the end of the input either, so the server ends.
    _ = ended.await;
}
