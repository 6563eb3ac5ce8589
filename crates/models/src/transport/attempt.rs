//! One attempt: sends the request and reads the streamed answer.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use reqwest::Response;
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use switchboard_prompting::ModelAnswer;
use switchboard_wire::{SseEvent, SseEvents, parse_retry_after};
use tokio::time::timeout;

use super::failure::{self, AttemptFailure};
use super::remote::RemoteParts;
use crate::listener::DeltaListener;
use crate::protocol::{AnswerReader, BrokenAnswer, VendorRefusal};

// Far above any real answer. The limits only stop a faulty server from exhausting memory.
const MAX_EVENT_BYTES: usize = 16 << 20;
const MAX_ANSWER_BYTES: usize = 64 << 20;
const MAX_REFUSAL_BYTES: usize = 64 << 10;
// After this time, only the status of a refusal is reported.
const REFUSAL_TIMEOUT: Duration = Duration::from_secs(10);
// Only a fully read connection is reused, so the end of the stream is worth a short wait.
const END_TIMEOUT: Duration = Duration::from_millis(50);

/// Makes one attempt and forwards deltas to the listener.
pub(super) async fn attempt(
    parts: &RemoteParts,
    body: Bytes,
    listener: &mut DeltaListener<'_>,
) -> Result<ModelAnswer, AttemptFailure> {
    let address = parts.spec.protocol.address(&parts.access, &parts.about.model);
    let request = parts.client.post(address).headers(parts.access.headers.clone()).body(body);
    let beginning = parts.patience.beginning;
    let response = match timeout(beginning, request.send()).await {
        Ok(Ok(response)) => response,
        Ok(Err(error)) => return Err(failure::send_failure(parts, &error)),
        Err(_) => return Err(failure::silence_timeout(parts, beginning)),
    };
    if !response.status().is_success() {
        return Err(failure::refusal_failure(parts, &refusal(response).await));
    }
    let kind = content_type(&response);
    // The page of a proxy or a login, with status 200.
    if kind.contains("html") {
        let body = limited_bytes(response, MAX_REFUSAL_BYTES, REFUSAL_TIMEOUT).await;
        return Err(failure::unexpected_body(parts, &String::from_utf8_lossy(&body)));
    }
    if kind.contains("json") {
        return read_whole(parts, response, listener).await;
    }
    let is_stream = kind.contains("event-stream");
    match read_stream(parts, response, listener).await {
        Err(StreamReadError::Nothing) if !is_stream => Err(failure::unexpected_body(parts, "")),
        Err(StreamReadError::Nothing) => Err(failure::truncated_answer(parts, "it is empty")),
        Err(StreamReadError::Failed(failure)) => Err(failure),
        Ok(said) => Ok(said),
    }
}

pub(super) async fn refusal(response: Response) -> VendorRefusal {
    let status = response.status().as_u16();
    let asked = retry_after(response.headers(), SystemTime::now());
    let body = limited_bytes(response, MAX_REFUSAL_BYTES, REFUSAL_TIMEOUT).await;
    let mut refusal = VendorRefusal::read(Some(status), &String::from_utf8_lossy(&body));
    refusal.wait = asked.or(refusal.wait);
    refusal
}

/// Returns how long the vendor asks to wait.
fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    // Some vendors also send milliseconds, in a header of their own.
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let exact = text("retry-after-ms").and_then(|value| value.parse().ok());
    match exact.filter(|value: &f64| value.is_finite()) {
        Some(milliseconds) => Duration::try_from_secs_f64(milliseconds / 1_000.0).ok(),
        None => parse_retry_after(text("retry-after")?, now),
    }
}

pub(super) fn content_type(response: &Response) -> String {
    let value = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    value.unwrap_or_default().to_lowercase()
}

/// Reads as much of a body as the limits allow.
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
    // The part that arrived before the timeout is still worth quoting.
    _ = timeout(limit, reading).await;
    body
}

/// Reads a JSON response to a streaming request.
async fn read_whole(
    parts: &RemoteParts,
    response: Response,
    listener: &mut DeltaListener<'_>,
) -> Result<ModelAnswer, AttemptFailure> {
    // An error that is sent with status 200, or the answer of a server that cannot stream.
    let body = limited_bytes(response, MAX_EVENT_BYTES, parts.patience.silence).await;
    let event = SseEvent { name: String::new(), data: body.into() };
    let mut reader = parts.spec.protocol.reader();
    match reader.push(&event).and_then(|deltas| Ok((deltas, reader.finish()?))) {
        Ok((deltas, said)) => {
            for delta in deltas {
                listener.send(delta).await;
            }
            Ok(said)
        }
        Err(BrokenAnswer::Refused(refusal)) => Err(failure::refusal_failure(parts, &refusal)),
        Err(BrokenAnswer::Cut | BrokenAnswer::Malformed(_)) => {
            Err(failure::unexpected_body(parts, &String::from_utf8_lossy(&event.data)))
        }
    }
}

enum StreamReadError {
    Nothing,
    Failed(AttemptFailure),
}

async fn read_stream(
    parts: &RemoteParts,
    response: Response,
    listener: &mut DeltaListener<'_>,
) -> Result<ModelAnswer, StreamReadError> {
    let mut events = SseEvents::new(response, MAX_EVENT_BYTES);
    let mut reader = parts.spec.protocol.reader();
    let mut length = 0_usize;
    let silence = parts.patience.silence;
    let ended = loop {
        let event = match events.next_within(silence).await {
            Ok(Ok(Some(event))) => event,
            Ok(Ok(None)) if length == 0 => return Err(StreamReadError::Nothing),
            Ok(Ok(None)) => break None,
            Ok(Err(error)) => break Some(failure::truncated_answer(parts, &error.to_string())),
            Err(_) => break Some(failure::silence_timeout(parts, silence)),
        };
        length = length.saturating_add(event.data.len()).max(1);
        if length > MAX_ANSWER_BYTES {
            return Err(StreamReadError::Failed(failure::oversized_answer(
                parts, MAX_ANSWER_BYTES,
            )));
        }
        let deltas = reader.push(&event);
        for delta in deltas
            .map_err(|error| StreamReadError::Failed(failure::broken_answer(parts, &error)))?
        {
            listener.send(delta).await;
        }
        if reader.is_over() {
            // The answer is complete; a timeout only means that the connection is not reused.
            _ = timeout(END_TIMEOUT, events.next()).await;
            break None;
        }
    };
    finish(parts, reader, ended).map_err(StreamReadError::Failed)
}

fn finish(
    parts: &RemoteParts,
    reader: Box<dyn AnswerReader>,
    ended: Option<AttemptFailure>,
) -> Result<ModelAnswer, AttemptFailure> {
    // If the answer is complete, a connection that failed afterwards does not matter.
    reader.finish().map_err(|error| ended.unwrap_or_else(|| failure::broken_answer(parts, &error)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn milliseconds_count_before_seconds() {
        for (pairs, expected) in [
            (&[("retry-after", "7")][..], Some(7_000)),
            (&[("retry-after-ms", "1500"), ("retry-after", "7")], Some(1_500)),
            (&[("retry-after-ms", "nan"), ("retry-after", "7")], Some(7_000)),
            (&[("retry-after-ms", "nan")], None),
            (&[], None),
        ] {
            let mut headers = HeaderMap::new();
            for (name, value) in pairs {
                headers.insert(*name, value.parse().unwrap());
            }
            let expected = expected.map(Duration::from_millis);
            assert_eq!(retry_after(&headers, SystemTime::now()), expected, "{pairs:?}");
        }
    }
}
