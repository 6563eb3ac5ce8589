//! What an HTTP response says: a result, a stream that leads to one, or a refusal.

use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use reqwest::header::{CONTENT_TYPE, LOCATION, RETRY_AFTER};

use super::authorize::challenges;
use super::events::Events;
use super::reply::Reply;
use crate::envelope::{self, Answer, Message};
use crate::error::{RequestError, shortened};
use crate::in_flight::{Settled, settled};
use crate::peer::Shared;
use crate::revision::Era;

/// As much of a refusal's body is read.
const REFUSAL_BYTES: usize = 64 << 10;

/// Where the answer is.
pub(super) enum Answered {
    /// In hand.
    Here(Settled),
    /// Settled through the table of open requests.
    Elsewhere,
    /// The stream ended before it, but can be taken up again after this event.
    CutOff {
        /// The last event's id.
        last_id: String,
        /// How long to wait first.
        retry: Option<Duration>,
    },
}

/// Reads the response to request `id`.
pub(super) async fn read(
    shared: &Arc<Shared>,
    id: u64,
    response: Reply,
) -> Result<Answered, RequestError> {
    let status = response.status();
    if !status.is_success() {
        return Err(Box::pin(refusal(response)).await);
    }
    match kind_of(&response) {
        BodyKind::Events => {
            let events = Events::new(response, shared.limits.frame_bytes);
            Box::pin(follow(shared, id, events)).await
        }
        BodyKind::Json => {
            let body = body_of(response, shared.limits.body_bytes).await?;
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

/// Follows an event stream until request `id` is settled.
pub(super) async fn follow(
    shared: &Arc<Shared>,
    id: u64,
    mut events: Events,
) -> Result<Answered, RequestError> {
    let cut_off = loop {
        match events.next().await {
            Ok(Some(event)) => {
                if !event.data.is_empty() && matches!(event.name.as_str(), "" | "message") {
                    // What is no message on a stream is noise, as it is on a pipe.
                    shared.dispatch_for(&event.data, Some(id)).ok();
                    if !shared.in_flight.is_waiting(id) {
                        return Ok(Answered::Elsewhere);
                    }
                }
            }
            Ok(None) => break "the event stream ended before the answer".to_owned(),
            Err(RequestError::Unknown(why)) => break why,
            Err(error) => return Err(error),
        }
    };
    match events.last_id() {
        Some(last_id) if shared.stance().revision.era() == Era::Legacy => {
            Ok(Answered::CutOff { last_id: last_id.to_owned(), retry: events.retry() })
        }
        _ => Err(RequestError::Unknown(cut_off)),
    }
}

fn from_body(shared: &Arc<Shared>, id: u64, body: &Bytes) -> Result<Answered, RequestError> {
    if body.is_empty() {
        return Err(RequestError::Unknown("the body of the answer is empty".to_owned()));
    }
    if envelope::is_batch(body) {
        shared.dispatch(body).ok();
        if !shared.in_flight.is_waiting(id) {
            return Ok(Answered::Elsewhere);
        }
    } else if let Ok(Message::Response { id: answered, answer }) = envelope::read(body) {
        // An error may come without an id when the server could not read the request.
        if answered == Some(id) || matches!(answer, Answer::Error(_)) {
            return Ok(Answered::Here(settled(answer)));
        }
        return Err(RequestError::Protocol("it has another request's id".to_owned()));
    }
    Err(RequestError::Protocol("the body is no answer".to_owned()))
}

/// Why the server turned a request down.
pub(super) async fn refusal(response: Reply) -> RequestError {
    let status = response.status().as_u16();
    let header = |name| {
        response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
    };
    let (retry_after, location) = (header(RETRY_AFTER), header(LOCATION));
    let challenge = challenges(response.headers());
    let is_json = matches!(kind_of(&response), BodyKind::Json);
    let body = body_of(response, REFUSAL_BYTES).await.unwrap_or_default();
    let error = match envelope::read(&body) {
        Ok(Message::Response { answer: Answer::Error(error), .. }) if is_json => Some(error),
        _ => None,
    };
    // These statuses mean the same whatever the body says; the others are told by a code that has
    // a meaning of its own.
    let by_status = matches!(status, 401 | 403 | 408 | 425 | 429 | 300..=399 | 500..);
    match error {
        Some(error) if !by_status && error.proves_not_run() => RequestError::Rpc(error),
        error => {
            let message = match (error, location) {
                (Some(error), _) => error.to_string(),
                (None, Some(to)) => {
                    // What follows the path may hold a secret.
                    let place = to.split(['?', '#']).next().unwrap_or_default();
                    format!("a redirect to `{place}` is not followed")
                }
                (None, None) => String::new(),
            };
            RequestError::Http {
                status,
                message: shortened(&message, 1_024),
                retry_after,
                challenge,
            }
        }
    }
}

/// Reads a successful response to its end, whatever kind it is of.
pub(super) async fn drain(response: Reply, limit_bytes: usize) -> Result<(), RequestError> {
    match kind_of(&response) {
        // The stream of an answer may stay open; its first message is the answer.
        BodyKind::Events => {
            let mut events = Events::new(response, limit_bytes);
            while let Some(event) = events.next().await? {
                if !event.data.is_empty() {
                    break;
                }
            }
            Ok(())
        }
        BodyKind::Json | BodyKind::None | BodyKind::Other(_) => {
            body_of(response, limit_bytes).await.map(|_| ())
        }
    }
}

enum BodyKind {
    Events,
    Json,
    None,
    Other(String),
}

fn kind_of(response: &Reply) -> BodyKind {
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

async fn body_of(mut response: Reply, limit_bytes: usize) -> Result<Bytes, RequestError> {
    let announced = response.content_length().and_then(|length| usize::try_from(length).ok());
    let mut whole = BytesMut::new();
    let mut first: Option<Bytes> = None;
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) => {
                if first.as_ref().map_or(0, Bytes::len) + whole.len() + chunk.len() > limit_bytes {
                    return Err(RequestError::Unknown(format!(
                        "the body of the answer has more than {limit_bytes} bytes"
                    )));
                }
                // Most answers come in one chunk, and that one is kept as it is.
                match (first.take(), whole.is_empty()) {
                    (None, true) => first = Some(chunk),
                    (None, false) => whole.extend_from_slice(&chunk),
                    (Some(before), _) => {
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
