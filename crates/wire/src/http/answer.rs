//! Interpretation of HTTP responses: a result, an event stream that leads to one, or a refusal.

use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use reqwest::header::{CONTENT_TYPE, LOCATION, RETRY_AFTER};

use super::authorize::challenges;
use super::events::SseEvents;
use super::reply::WireResponse;
use crate::envelope::{Message, ResponseBody};
use crate::error::{RequestError, truncate};
use crate::in_flight::{RequestResult, into_result};
use crate::peer::PeerShared;
use crate::revision::Era;

/// Maximum bytes read from the body of a refusal.
const MAX_REFUSAL_BYTES: usize = 64 << 10;

pub(super) enum ResponseOutcome {
    Here(RequestResult),
    /// Settled through the table of requests in flight.
    Elsewhere,
    /// The stream ended before the answer but can be resumed.
    CutOff {
        last_id: String,
        retry: Option<Duration>,
    },
}

/// Reads the response to request `id`.
pub(super) async fn read_response(
    shared: &Arc<PeerShared>,
    id: u64,
    response: WireResponse,
) -> Result<ResponseOutcome, RequestError> {
    let status = response.status();
    if !status.is_success() {
        return Err(Box::pin(read_refusal(response)).await);
    }
    match body_kind(&response) {
        BodyKind::Events => {
            let events = SseEvents::new(response, shared.limits.frame_bytes);
            Box::pin(follow_events(shared, id, events)).await
        }
        BodyKind::Json => {
            let body = read_body(response, shared.limits.body_bytes).await?;
            from_body(shared, id, &body)
        }
        BodyKind::None => {
            Err(RequestError::Unknown(format!("HTTP status {status} without a body")))
        }
        BodyKind::Other(kind) => Err(RequestError::Protocol(format!(
            "HTTP status {status} with a body of type `{kind}`"
        ))),
    }
}

/// Reads an event stream until request `id` is settled.
pub(super) async fn follow_events(
    shared: &Arc<PeerShared>,
    id: u64,
    mut events: SseEvents,
) -> Result<ResponseOutcome, RequestError> {
    let cut_off = loop {
        match events.next().await {
            Ok(Some(event)) => {
                if !event.data.is_empty() && matches!(event.name.as_str(), "" | "message") {
                    // Events that are not messages are skipped, like such lines on a pipe.
                    _ = shared.dispatch_for(&event.data, Some(id));
                    if !shared.in_flight.is_waiting(id) {
                        events.finish();
                        return Ok(ResponseOutcome::Elsewhere);
                    }
                }
            }
            Ok(None) => break "the event stream ended before the answer".to_owned(),
            Err(RequestError::Unknown(why)) => break why,
            Err(error) => return Err(error),
        }
    };
    match events.last_id() {
        Some(last_id) if shared.protocol().revision.era() == Era::Legacy => {
            Ok(ResponseOutcome::CutOff { last_id: last_id.to_owned(), retry: events.retry() })
        }
        // Without an event id there is no place to resume at, and modern servers have no replay.
        _ => Err(RequestError::Unknown(cut_off)),
    }
}

fn from_body(
    shared: &Arc<PeerShared>,
    id: u64,
    body: &Bytes,
) -> Result<ResponseOutcome, RequestError> {
    if body.is_empty() {
        return Err(RequestError::Unknown("the body of the answer is empty".to_owned()));
    }
    if Message::is_batch(body) {
        // Bad members do not matter if the answer is among the others.
        _ = shared.dispatch(body);
        if !shared.in_flight.is_waiting(id) {
            return Ok(ResponseOutcome::Elsewhere);
        }
    } else if let Ok(Message::Response { id: answered, answer }) = Message::parse(body) {
        // An error may lack an id if the server could not parse the request.
        if answered == Some(id) || matches!(answer, ResponseBody::Error(_)) {
            return Ok(ResponseOutcome::Here(into_result(answer)));
        }
        return Err(RequestError::Protocol("it has the id of another request".to_owned()));
    }
    Err(RequestError::Protocol("the body is not an answer".to_owned()))
}

/// Reads the reason why the server refused a request.
pub(super) async fn read_refusal(response: WireResponse) -> RequestError {
    let status = response.status().as_u16();
    let header = |name| {
        response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
    };
    let retry_after = header(RETRY_AFTER);
    let location = header(LOCATION);
    let challenge = challenges(response.headers());
    let is_json = matches!(body_kind(&response), BodyKind::Json);
    let body = read_body(response, MAX_REFUSAL_BYTES).await.unwrap_or_default();
    let error = match Message::parse(&body) {
        Ok(Message::Response { answer: ResponseBody::Error(error), .. }) if is_json => Some(error),
        _ => None,
    };
    // These statuses mean the same whatever the body says; for others, the code is more specific.
    let by_status = matches!(status, 401 | 403 | 408 | 425 | 429 | 300..=399 | 500..);
    match error {
        Some(error) if !by_status && error.proves_not_run() => RequestError::Rpc(error),
        error => {
            let message = match (error, location) {
                (Some(error), _) => error.to_string(),
                (None, Some(to)) => {
                    // The query and fragment may contain a secret.
                    let place = to.split(['?', '#']).next().unwrap_or_default();
                    format!("a redirect to `{place}` is not followed")
                }
                (None, None) => String::new(),
            };
            let message = truncate(&message, 1_024);
            RequestError::Http { status, message, retry_after, challenge }
        }
    }
}

/// Reads a successful response to its end, whatever its content type.
pub(super) async fn drain(response: WireResponse, limit_bytes: usize) -> Result<(), RequestError> {
    match body_kind(&response) {
        // The stream may stay open after the answer, which is its first message.
        BodyKind::Events => {
            let mut events = SseEvents::new(response, limit_bytes);
            while let Some(event) = events.next().await? {
                if !event.data.is_empty() {
                    events.finish();
                    break;
                }
            }
            Ok(())
        }
        BodyKind::Json | BodyKind::None | BodyKind::Other(_) => {
            read_body(response, limit_bytes).await.map(|_| ())
        }
    }
}

enum BodyKind {
    Events,
    Json,
    None,
    Other(String),
}

fn body_kind(response: &WireResponse) -> BodyKind {
    let value = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let kind = value.unwrap_or("").split(';').next().unwrap_or("").trim().to_ascii_lowercase();
    match kind.as_str() {
        "text/event-stream" => BodyKind::Events,
        "application/json" => BodyKind::Json,
        kind if kind.ends_with("+json") => BodyKind::Json,
        "" => BodyKind::None,
        kind => BodyKind::Other(kind.to_owned()),
    }
}

async fn read_body(mut response: WireResponse, limit_bytes: usize) -> Result<Bytes, RequestError> {
    let announced = response.content_length().and_then(|length| usize::try_from(length).ok());
    let mut whole = BytesMut::new();
    let mut first: Option<Bytes> = None;
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) => {
                if first.as_ref().map_or(0, Bytes::len) + whole.len() + chunk.len() > limit_bytes {
                    let why = format!("the body of the answer has more than {limit_bytes} bytes");
                    return Err(RequestError::Unknown(why));
                }
                // Most answers arrive in one chunk, which is used without a copy.
                match (first.take(), whole.is_empty()) {
                    (None, true) => first = Some(chunk),
                    (None, false) => whole.extend_from_slice(&chunk),
                    (Some(before), _) => {
                        // The announced length is only a hint: it must not allocate past the limit.
                        whole.reserve(announced.unwrap_or(0).min(limit_bytes).max(before.len()));
                        whole.extend_from_slice(&before);
                        whole.extend_from_slice(&chunk);
                    }
                }
            }
            Ok(None) => return Ok(first.unwrap_or_else(|| whole.freeze())),
            Err(error) => return Err(error),
        }
    }
}
