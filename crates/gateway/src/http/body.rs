//! Request bodies and responses: a JSON text, or an event stream that ends with it.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody as _, to_bytes};
use axum::http::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use switchboard_wire::{Json, RpcError};
use tokio::sync::mpsc;

use crate::gateway::GatewayOptions;
use crate::limits::{AdmissionError, BUSY_CODE};
use crate::reply::{error_without_id, response};
use crate::session::SessionLimit;

/// Interval between keep-alive comments on an idle stream, so that proxies do not close it.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(15);

/// Maximum chunk size; longer answers are sent in several chunks.
const CHUNK_BYTES: usize = 64 << 10;

pub(super) fn json_response(status: StatusCode, text: String) -> Response {
    (status, [(CONTENT_TYPE, "application/json")], text).into_response()
}

/// Like [`json_response`], but a long answer holds `pass` until only its last chunk is left. A
/// caller that does not read its answers therefore runs into its limit.
pub(super) fn json_with_permit(
    status: StatusCode,
    text: String,
    pass: impl Send + 'static,
) -> Response {
    if text.len() <= CHUNK_BYTES {
        return json_response(status, text);
    }
    let length = HeaderValue::from(text.len());
    let start = (Bytes::from(text), Some(pass));
    let pieces = futures_util::stream::unfold(start, |(mut rest, pass)| async move {
        let piece = rest.split_to(rest.len().min(CHUNK_BYTES));
        // Released before the last chunk: a client that has it may send its next request.
        let pass = pass.filter(|_| !rest.is_empty());
        (!piece.is_empty()).then_some((Ok::<Bytes, Infallible>(piece), (rest, pass)))
    });
    let kind = HeaderValue::from_static("application/json");
    let headers = [(CONTENT_TYPE, kind), (CONTENT_LENGTH, length)];
    (status, headers, Body::from_stream(pieces)).into_response()
}

/// Returns the error response to a message that was not accepted.
pub(super) fn error_response(status: StatusCode, code: i64, why: impl Into<String>) -> Response {
    json_response(status, error_without_id(&RpcError::new(code, why)))
}

pub(super) fn bad_request(why: impl Into<String>) -> Response {
    error_response(StatusCode::BAD_REQUEST, -32_600, why)
}

/// Returns the error response to a request over a limit or during shutdown.
pub(super) fn too_many_requests(id: &Json, full: AdmissionError) -> Response {
    let (status, wait) = match full {
        AdmissionError::InFlight { .. } => (StatusCode::TOO_MANY_REQUESTS, Duration::from_secs(1)),
        AdmissionError::TooFast { wait } => (StatusCode::TOO_MANY_REQUESTS, wait),
        AdmissionError::ShuttingDown => (StatusCode::SERVICE_UNAVAILABLE, Duration::from_secs(5)),
    };
    with_retry_after(json_response(status, response(id, Err(&full.into_rpc_error()))), wait)
}

pub(super) fn too_many_sessions(no_room: SessionLimit) -> Response {
    let status = match no_room {
        SessionLimit::PerCaller => StatusCode::TOO_MANY_REQUESTS,
        SessionLimit::Total => StatusCode::SERVICE_UNAVAILABLE,
    };
    let why = "too many sessions; close some, or try again later";
    with_retry_after(error_response(status, BUSY_CODE, why), Duration::from_secs(60))
}

fn with_retry_after(mut response: Response, wait: Duration) -> Response {
    // Whole seconds, rounded up: a client that returns too early would be rejected again.
    let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds.max(1)));
    response
}

/// Reads a message within the size and time limits.
pub(super) async fn read_body(body: Body, options: &GatewayOptions) -> Result<Bytes, Response> {
    let limit = options.body_limit_bytes;
    let too_long = |or: &str| {
        let why = format!("the message has more than {limit} bytes{or}");
        error_response(StatusCode::PAYLOAD_TOO_LARGE, -32_600, why)
    };
    // Reject an announced excessive length before the body is sent.
    let announced = body.size_hint().exact();
    if announced.is_some_and(|bytes| usize::try_from(bytes).is_ok_and(|bytes| bytes > limit)) {
        return Err(too_long(""));
    }
    match tokio::time::timeout(options.read_limit, to_bytes(body, limit)).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(_)) if announced.is_some() => Err(bad_request("the message is incomplete")),
        // Without an announced length, the two causes cannot be told apart.
        Ok(Err(_)) => Err(too_long(", or is incomplete")),
        Err(_) => {
            let why = "the message did not arrive within the time limit";
            Err(error_response(StatusCode::REQUEST_TIMEOUT, -32_600, why))
        }
    }
}

/// Returns the response to a message that has no answer.
pub(super) fn accepted_response() -> Response {
    StatusCode::ACCEPTED.into_response()
}

/// Streams messages as events until the channel closes.
pub(super) fn event_stream(first: Option<String>, messages: mpsc::Receiver<String>) -> Response {
    stream_events(first.as_deref().map(format_event), messages)
}

/// Like [`event_stream`], after a first event that is already formatted.
pub(super) fn event_stream_after(first: String, messages: mpsc::Receiver<String>) -> Response {
    stream_events(Some(first), messages)
}

fn stream_events(first: Option<String>, messages: mpsc::Receiver<String>) -> Response {
    let start = (first, messages);
    let stream = futures_util::stream::unfold(start, |(first, mut messages)| async move {
        let text = match first {
            Some(first) => first,
            None => match tokio::time::timeout(KEEP_ALIVE_INTERVAL, messages.recv()).await {
                Ok(Some(message)) => format_event(&message),
                Ok(None) => return None,
                Err(_) => ": \n\n".to_owned(),
            },
        };
        Some((Ok::<Bytes, Infallible>(Bytes::from(text)), (None, messages)))
    });
    let mut response = Body::from_stream(stream).into_response();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // Keeps nginx from collecting the events of a stream.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// Formats a message as an event. Line breaks between JSON tokens are replaced: LF, CR and CRLF all
/// end a line of an event stream.
fn format_event(message: &str) -> String {
    if message.contains(['\n', '\r']) {
        return format!("event: message\ndata: {}\n\n", message.replace(['\n', '\r'], " "));
    }
    format!("event: message\ndata: {message}\n\n")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use axum::http::StatusCode;
    use futures_util::StreamExt as _;

    use super::{CHUNK_BYTES, format_event, json_with_permit};

    #[tokio::test]
    async fn a_long_answer_counts_until_its_last_piece_leaves() {
        let pass = Arc::new(());
        for (length, expected) in [(10, &[1][..]), (CHUNK_BYTES * 2 + 1, &[2, 2, 1])] {
            let response = json_with_permit(StatusCode::OK, "x".repeat(length), Arc::clone(&pass));
            let mut pieces = response.into_body().into_data_stream();
            let mut counts = Vec::new();
            let mut bytes = 0;
            while let Some(piece) = pieces.next().await {
                bytes += piece.unwrap().len();
                counts.push(Arc::strong_count(&pass));
            }
            assert_eq!((counts.as_slice(), bytes), (expected, length));
        }
    }

    #[test]
    fn no_line_break_in_a_message_ends_its_event() {
        for message in ["{\"a\":1}", "{\n\"a\":1}", "{\r\"a\":1}", "{\r\n\"a\":\r\r1}\n"] {
            let text = format_event(message);
            let data = text.strip_prefix("event: message\ndata: ").unwrap();
            let data = data.strip_suffix("\n\n").unwrap();
            assert!(!data.contains(['\n', '\r']), "{text:?}");
            let value = |text| serde_json::from_str::<serde_json::Value>(text).unwrap();
            assert_eq!(value(data), value(message));
        }
    }
}
