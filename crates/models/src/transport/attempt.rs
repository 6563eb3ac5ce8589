//! Asks once: sends the request and reads the answer as it comes.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use reqwest::Response;
use reqwest::header::CONTENT_TYPE;
use switchboard_prompting::Said;
use switchboard_wire::http::{Event, Events};
use tokio::time::timeout;

use super::failure;
use super::failure::Failure;
use super::remote::Parts;
use super::retry_after::retry_after;
use crate::listener::Listener;
use crate::protocol::{Broken, Reader, Refusal};

const EVENT_LIMIT_BYTES: usize = 16 << 20;
const ANSWER_LIMIT_BYTES: usize = 64 << 20;
const REFUSAL_LIMIT_BYTES: usize = 64 << 10;
/// How long the words of a refusal may take; without them the status has to do.
const REFUSAL_TIME: Duration = Duration::from_secs(10);
/// A connection whose stream is read to its end can be used again, which is worth a moment.
const END_TIME: Duration = Duration::from_millis(50);

/// Asks once and tells the listener what comes.
pub(super) async fn attempt(
    parts: &Parts,
    body: Bytes,
    listener: &mut Listener<'_>,
) -> Result<Said, Failure> {
    let address = parts.protocol.address(&parts.access, &parts.about.model);
    let request = parts.client.post(address).headers(parts.access.headers.clone()).body(body);
    let beginning = parts.patience.beginning;
    let response = match timeout(beginning, request.send()).await {
        Ok(Ok(response)) => response,
        Ok(Err(error)) => return Err(failure::unsent(parts, &error)),
        Err(_) => return Err(failure::silent(parts, beginning)),
    };
    if !response.status().is_success() {
        return Err(failure::refused(parts, &refusal(response).await));
    }
    let kind = content_type(&response);
    if kind.contains("html") {
        let body = limited_bytes(response, REFUSAL_LIMIT_BYTES, REFUSAL_TIME).await;
        return Err(failure::not_events(parts, &String::from_utf8_lossy(&body)));
    }
    if kind.contains("json") {
        return whole(parts, response, listener).await;
    }
    let is_stream = kind.contains("event-stream");
    match read(parts, response, listener).await {
        Err(Unread::Nothing) if !is_stream => Err(failure::not_events(parts, "")),
        Err(Unread::Nothing) => Err(failure::cut(parts, "it ended before it began")),
        Err(Unread::Failed(failure)) => Err(failure),
        Ok(said) => Ok(said),
    }
}

/// The refusal in a response.
pub(super) async fn refusal(response: Response) -> Refusal {
    let status = response.status().as_u16();
    let asked = retry_after(response.headers(), SystemTime::now());
    let body = limited_bytes(response, REFUSAL_LIMIT_BYTES, REFUSAL_TIME).await;
    let mut refusal = Refusal::read(Some(status), &String::from_utf8_lossy(&body));
    refusal.wait = asked.or(refusal.wait);
    refusal
}

/// The type of a response in lower case.
pub(super) fn content_type(response: &Response) -> String {
    let value = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    value.unwrap_or_default().to_lowercase()
}

/// The beginning of a body, as much as came in time.
async fn limited_bytes(mut response: Response, limit_bytes: usize, limit: Duration) -> Vec<u8> {
    let mut body = Vec::new();
    let reading = async {
        while let Ok(Some(chunk)) = response.chunk().await {
            body.extend(chunk.iter().take(limit_bytes.saturating_sub(body.len())));
            if body.len() >= limit_bytes {
                break;
            }
        }
    };
    // What came before the time ran out is still worth quoting.
    timeout(limit, reading).await.ok();
    body
}

/// Reads an answer that did not come as a stream, though that was asked for: an error, or the
/// answer of a server that cannot stream.
async fn whole(
    parts: &Parts,
    response: Response,
    listener: &mut Listener<'_>,
) -> Result<Said, Failure> {
    let body = limited_bytes(response, EVENT_LIMIT_BYTES, parts.patience.silence).await;
    let event = Event { name: String::new(), data: body.into() };
    let mut reader = parts.protocol.reader();
    match reader.push(&event).and_then(|deltas| Ok((deltas, reader.finish()?))) {
        Ok((deltas, said)) => {
            for delta in deltas {
                listener.tell(delta).await;
            }
            Ok(said)
        }
        Err(Broken::Refused(refusal)) => Err(failure::refused(parts, &refusal)),
        Err(Broken::Cut | Broken::Malformed(_)) => {
            Err(failure::not_events(parts, &String::from_utf8_lossy(&event.data)))
        }
    }
}

enum Unread {
    /// Not one event came.
    Nothing,
    /// Something else.
    Failed(Failure),
}

async fn read(
    parts: &Parts,
    response: Response,
    listener: &mut Listener<'_>,
) -> Result<Said, Unread> {
    let mut events = Events::new(response, EVENT_LIMIT_BYTES);
    let mut reader = parts.protocol.reader();
    let mut length = 0_usize;
    let silence = parts.patience.silence;
    let ended = loop {
        let event = match events.next_within(silence).await {
            Ok(Ok(Some(event))) => event,
            Ok(Ok(None)) if length == 0 => return Err(Unread::Nothing),
            Ok(Ok(None)) => break None,
            Ok(Err(error)) => break Some(failure::cut(parts, &error.to_string())),
            Err(_) => break Some(failure::silent(parts, silence)),
        };
        length = length.saturating_add(event.data.len()).max(1);
        if length > ANSWER_LIMIT_BYTES {
            return Err(Unread::Failed(failure::endless(parts, ANSWER_LIMIT_BYTES)));
        }
        let deltas = reader.push(&event);
        for delta in deltas.map_err(|error| Unread::Failed(failure::broken(parts, &error)))? {
            listener.tell(delta).await;
        }
        if reader.is_over() {
            timeout(END_TIME, events.next()).await.ok();
            break None;
        }
    };
    finish(parts, reader, ended).map_err(Unread::Failed)
}

/// A connection that breaks after the last word of an answer has done no harm.
fn finish(parts: &Parts, reader: Box<dyn Reader>, ended: Option<Failure>) -> Result<Said, Failure> {
    reader.finish().map_err(|error| ended.unwrap_or_else(|| failure::broken(parts, &error)))
}
