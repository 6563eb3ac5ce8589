//! A request that may come back for more input before it has a result.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;

use memchr::memmem;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use switchboard_wire::{Era, Json, Peer, Request, RequestError};

use tokio::time::{Instant, timeout_at};

use crate::connect::Asking;
use crate::execute::message::{Message, Shape};
use crate::execute::run::Reach;

/// Times that a server may ask before the call is given up.
const ROUNDS: usize = 10;

/// How long a call may take.
#[derive(Clone, Copy)]
pub(super) struct Deadlines {
    pub(super) idle: Duration,
    pub(super) total: Duration,
}

impl Deadlines {
    /// The same, with at most so much time left.
    pub(super) fn within(self, left: Duration) -> Self {
        Self { idle: self.idle.min(left), total: self.total }
    }
}

/// Sends a call, and answers what the server asks in between.
pub(super) async fn exchange(
    peer: &Peer,
    server: &str,
    name: &str,
    message: &Message,
    deadlines: Deadlines,
    reach: &Reach<'_>,
) -> Result<Json, RequestError> {
    let mut params = Cow::Borrowed(message.params.as_str());
    let end = Instant::now() + deadlines.total;
    for round in 0..=ROUNDS {
        let left = end.saturating_duration_since(Instant::now());
        let request = Request {
            method: message.method,
            params: &params,
            idle: deadlines.idle.min(left),
            total: left,
            progress: reach.progress.clone(),
            tag: reach.tag,
            name: Some(name),
            headers: &message.headers,
        };
        let result = peer.request(request).await;
        let result = if round == 0 { result? } else { result.map_err(after_a_round)? };
        let next = next_round(peer, &result, (server, name), message, reach);
        match timeout_at(end, next).await {
            Ok(Ok(Some(next))) => params = Cow::Owned(next),
            Ok(Ok(None)) => return Ok(result),
            Ok(Err(error)) => return Err(error),
            Err(_) => return Err(RequestError::TimedOut(deadlines.total)),
        }
    }
    Err(RequestError::Protocol(format!("the server asked for input more than {ROUNDS} times")))
}

/// The server has had the call already: what goes wrong later proves nothing about it.
fn after_a_round(error: RequestError) -> RequestError {
    match error {
        RequestError::NotSent(_) | RequestError::Http { .. } | RequestError::Rpc(_) => {
            RequestError::Unknown(format!("after the server had asked for input: {error}"))
        }
        RequestError::Unknown(_) | RequestError::TimedOut(_) | RequestError::Protocol(_) => error,
    }
}

/// The parameters of the next round, if there is to be one.
async fn next_round(
    peer: &Peer,
    result: &Json,
    (server, name): (&str, &str),
    message: &Message,
    reach: &Reach<'_>,
) -> Result<Option<String>, RequestError> {
    // Only a modern server comes back for more; a look at the bytes saves decoding final results.
    let modern = peer.stance().revision.era() == Era::Modern;
    if !modern || memmem::find(result.bytes(), b"resultType").is_none() {
        return Ok(None);
    }
    let Ok(shape) = result.read::<Shape<'_>>() else { return Ok(None) };
    match shape.result_type.map(RawValue::get) {
        None | Some(r#""complete""#) => return Ok(None),
        Some(r#""input_required""#) => {}
        Some(other) => {
            return Err(RequestError::Protocol(format!(
                "the result is of the unknown type {other}"
            )));
        }
    }
    let mut members = Vec::new();
    if let Some(asked) = shape.input_requests {
        let responses = answer_all(asked, server, name, reach).await?;
        members.push(format!(r#""inputResponses":{}"#, Value::Object(responses)));
    }
    if let Some(state) = shape.request_state {
        // Given back as the very bytes that came.
        members.push(format!(r#""requestState":{}"#, state.get()));
    }
    if members.is_empty() {
        let why = "the server asks for input without saying which";
        return Err(RequestError::Protocol(why.to_owned()));
    }
    Ok(Some(message.with(&members.join(","))))
}

#[derive(Deserialize)]
struct InputRequest<'a> {
    #[serde(default)]
    method: String,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

async fn answer_all(
    asked: &RawValue,
    server: &str,
    name: &str,
    reach: &Reach<'_>,
) -> Result<Map<String, Value>, RequestError> {
    let unreadable =
        |error| RequestError::Protocol(format!("what the server asks cannot be read: {error}"));
    // The fields of a form stay in the server's order only in its own bytes.
    let asked: BTreeMap<String, InputRequest<'_>> =
        serde_json::from_str(asked.get()).map_err(unreadable)?;
    let mut responses = Map::new();
    for (key, InputRequest { method, params }) in asked {
        let params = params.map(Json::from);
        let (target, call) = (Some(name), Some(reach.tag));
        let params = params.as_ref();
        let answer =
            reach.answers.answer(Asking { server, target, call, method: &method, params }).await;
        let answer = answer.map_err(|error| {
            RequestError::Protocol(format!("the server asked for `{method}`: {error}"))
        })?;
        responses.insert(key, serde_json::from_str(&answer).map_err(unreadable)?);
    }
    Ok(responses)
}
