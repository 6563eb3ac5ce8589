//! Responses: one JSON text, or a stream of events that ends with it.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use switchboard_wire::RpcError;
use tokio::sync::mpsc;

use crate::envelope;

/// A stream that has nothing to say says so this often, so that nobody in between closes it.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// A JSON text.
pub(super) fn json(status: StatusCode, text: String) -> Response {
    let mut response = (status, text).into_response();
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// A message that could not be taken, as its error.
pub(super) fn refusal(status: StatusCode, code: i64, why: impl Into<String>) -> Response {
    json(status, envelope::refusal(&RpcError::new(code, why)))
}

/// A message that was taken and has no answer.
pub(super) fn accepted() -> Response {
    StatusCode::ACCEPTED.into_response()
}

/// Messages as events, until there are no more.
pub(super) fn events(first: Option<String>, messages: mpsc::Receiver<String>) -> Response {
    stream(first.as_deref().map(event), messages)
}

/// The same after some text that is an event already.
pub(super) fn events_with(first: String, messages: mpsc::Receiver<String>) -> Response {
    stream(Some(first), messages)
}

fn stream(first: Option<String>, messages: mpsc::Receiver<String>) -> Response {
    let start = (first, messages);
    let stream = futures_util::stream::unfold(start, |(first, mut messages)| async move {
        let text = match first {
            Some(first) => first,
            None => match tokio::time::timeout(KEEP_ALIVE, messages.recv()).await {
                Ok(Some(message)) => event(&message),
                Ok(None) => return None,
                Err(_) => ": \n\n".to_owned(),
            },
        };
        Some((Ok::<Bytes, std::convert::Infallible>(Bytes::from(text)), (None, messages)))
    });
    let mut response = Body::from_stream(stream).into_response();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// One message as an event. Line breaks between its tokens would end the event's line.
fn event(message: &str) -> String {
    if message.contains(['\n', '\r']) {
        let lines: Vec<&str> = message.lines().collect();
        return format!("event: message\ndata: {}\n\n", lines.join(" "));
    }
    format!("event: message\ndata: {message}\n\n")
}
