//! Requests of the legacy era: a session first, then everything within it.

use std::sync::{Arc, OnceLock};

use axum::body::Bytes;
use axum::extract::State;
use axum::http::header::ALLOW;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use switchboard_wire::envelope::{self as wire_envelope, Message};
use switchboard_wire::{Json, Revision};
use tokio::sync::mpsc;

use super::body::{accepted, counted, events, full, json, no_room, refusal};
use super::door::only;
use super::post::Front;
use crate::access::Access;
use crate::asked::Asked;
use crate::client::Out;
use crate::envelope::response;
use crate::gateway::Gateway;
use crate::session::{Session, locked};
use crate::stdio::{Greeting, cancelled_id};

const SESSION: &str = "mcp-session-id";

/// Takes one message.
pub(super) async fn take(
    front: &Arc<Front>,
    headers: &HeaderMap,
    access: &Access,
    message: Message,
) -> Response {
    if let Message::Request { id, method, params } = &message
        && method == "initialize"
    {
        return greet(&front.gateway, access, id, params.as_ref()).await;
    }
    let session = match session_of(front, headers, access) {
        Ok(session) => session,
        Err(refused) => return *refused,
    };
    match message {
        Message::Request { id, method, params } => {
            let pass = match front.gateway.enter(&access.identity) {
                Ok(pass) => Arc::new(pass),
                Err(refused) => return full(&id, refused),
            };
            let (messages, mut stream) = mpsc::channel(64);
            let request = (id, method, params);
            spawn(&front.gateway, &session, messages, request, Arc::clone(&pass));
            // A single message is the answer itself; more than one make a stream.
            let Some(first) = stream.recv().await else {
                // It was cancelled, so that there is no answer.
                return events(None, stream);
            };
            if is_answer(&first) {
                counted(StatusCode::OK, first, pass)
            } else {
                events(Some(first), stream)
            }
        }
        message => {
            tell(&session, message);
            accepted()
        }
    }
}

/// Takes several messages at once, which only one revision has.
pub(super) fn batch(
    front: &Arc<Front>,
    headers: &HeaderMap,
    access: &Access,
    body: &Bytes,
) -> Response {
    let refused = || {
        let why = "only revision 2025-03-26 has batches, and only in a session";
        refusal(StatusCode::BAD_REQUEST, -32_600, why)
    };
    if !headers.contains_key(SESSION) {
        return refused();
    }
    let session = match session_of(front, headers, access) {
        Ok(session) if session.client().revision.allows_batches() => session,
        Ok(_) => return refused(),
        Err(refused) => return *refused,
    };
    let (mut requests, mut others) = (Vec::new(), Vec::new());
    let members = wire_envelope::split_batch(body).unwrap_or_default();
    if members.is_empty() || members.iter().any(|member| wire_envelope::is_batch(member)) {
        return refusal(StatusCode::BAD_REQUEST, -32_600, "the batch is no list of messages");
    }
    for member in members {
        match wire_envelope::read_strictly(&member) {
            Ok(Message::Request { id, method, params }) => {
                match front.gateway.enter(&access.identity) {
                    Ok(pass) => requests.push(((id, method, params), pass)),
                    Err(refused) => return full(&id, refused),
                }
            }
            Ok(message) => others.push(message),
            Err(_) => {
                return refusal(StatusCode::BAD_REQUEST, -32_600, "a member is no message");
            }
        }
    }
    // Either all of them are taken or none.
    let (messages, stream) = mpsc::channel(64);
    let asked = requests.len();
    for (request, pass) in requests {
        spawn(&front.gateway, &session, messages.clone(), request, pass);
    }
    for message in others {
        tell(&session, message);
    }
    drop(messages);
    if asked == 0 { accepted() } else { events(None, stream) }
}

async fn greet(gateway: &Gateway, access: &Access, id: &Json, params: Option<&Json>) -> Response {
    let client = match Greeting::read(params) {
        Ok(greeting) => Arc::new(greeting.client(access)),
        Err(error) => return json(StatusCode::OK, response(id, Err(&error))),
    };
    let _pass = match gateway.enter(&access.identity) {
        Ok(pass) => pass,
        Err(refused) => return full(id, refused),
    };
    let session = match gateway.sessions().open(Arc::clone(&client)) {
        Ok(session) => session,
        Err(crowded) => return no_room(crowded),
    };
    let asked = asked(&session, mpsc::channel(1).0, (id.clone(), "initialize".to_owned(), None));
    let mut answer = json(StatusCode::OK, response(id, Ok(&gateway.welcome(&asked).await.into())));
    if let Ok(value) = HeaderValue::from_str(&session.id) {
        answer.headers_mut().insert(SESSION, value);
    }
    answer
}

/// Answers a request, also when its client hangs up: that is no cancellation in this era. It counts,
/// by its `pass`, until it has its answer.
pub(super) fn spawn(
    gateway: &Gateway,
    session: &Arc<Session>,
    messages: mpsc::Sender<String>,
    (id, method, params): (Json, String, Option<Json>),
    pass: impl Send + 'static,
) {
    let asked = asked(session, messages.clone(), (id.clone(), method, params));
    let cancel = asked.cancel.clone();
    locked(&session.running).insert(id.as_str().to_owned(), cancel.clone());
    let (gateway, session) = (gateway.clone(), Arc::clone(session));
    tokio::spawn(async move {
        let answer = gateway.answer(&asked).await;
        drop(pass);
        locked(&session.running).remove(id.as_str());
        // Who has cancelled a request does not expect an answer.
        if !cancel.is_cancelled() || session.over.is_cancelled() {
            messages.send(response(&id, answer.as_ref())).await.ok();
        }
    });
}

pub(super) fn asked(
    session: &Arc<Session>,
    messages: mpsc::Sender<String>,
    (id, method, params): (Json, String, Option<Json>),
) -> Asked {
    Asked {
        client: session.client(),
        out: Out::Stream { messages, session: Some(Arc::clone(session)) },
        id,
        method,
        params,
        read: OnceLock::new(),
        cancel: session.over.child_token(),
    }
}

/// Takes what needs no answer.
pub(super) fn tell(session: &Session, message: Message) {
    match message {
        Message::Notification { method, params } if method == "notifications/cancelled" => {
            let cancel = cancelled_id(params.as_ref())
                .and_then(|id| locked(&session.running).get(&id).cloned());
            if let Some(cancel) = cancel {
                cancel.cancel();
            }
        }
        Message::Response { id, answer } => session.answered(id, answer),
        Message::Notification { .. } | Message::Request { .. } => {}
    }
}

/// Whether a message of ours is an answer rather than something on the way to it.
fn is_answer(message: &str) -> bool {
    // Only our own requests have an id and a method, and their ids are numbers.
    let rest = message.strip_prefix(r#"{"jsonrpc":"2.0","id":"#);
    rest.is_some_and(|rest| {
        let after = rest.trim_start_matches(|character: char| character.is_ascii_digit());
        !after.starts_with(r#","method":"#)
    })
}

fn session_of(
    front: &Front,
    headers: &HeaderMap,
    access: &Access,
) -> Result<Arc<Session>, Box<Response>> {
    let refused = |status, why: &str| Box::new(refusal(status, -32_600, why));
    let version = headers.get("mcp-protocol-version").map(|value| value.to_str().unwrap_or(""));
    if version.is_some_and(|version| Revision::parse(version).is_none()) {
        let why = "the `MCP-Protocol-Version` is not one that is spoken here";
        return Err(refused(StatusCode::BAD_REQUEST, why));
    }
    // Whoever is in between may have looked at the other one of two.
    let id = only(headers, &HeaderName::from_static(SESSION)).map_err(|()| {
        refused(StatusCode::BAD_REQUEST, "the header `Mcp-Session-Id` comes twice or is no text")
    })?;
    let Some(id) = id else {
        let why = "no session: `initialize` first, or speak 2026-07-28";
        return Err(refused(StatusCode::BAD_REQUEST, why));
    };
    front.gateway.sessions().get(id, &access.identity).ok_or_else(|| {
        refused(StatusCode::NOT_FOUND, "there is no such session: `initialize` again")
    })
}

/// The session of a request without a message; a client without one has no business here.
async fn session_at(
    front: &Front,
    uri: &Uri,
    headers: &HeaderMap,
) -> Result<Arc<Session>, Box<Response>> {
    let access = front.door.admit(uri, headers).await?;
    if !headers.contains_key(SESSION) {
        let allowed = [(ALLOW, HeaderValue::from_static("POST"))];
        return Err(Box::new((StatusCode::METHOD_NOT_ALLOWED, allowed).into_response()));
    }
    session_of(front, headers, &access)
}

/// Opens the stream of what is said outside of any request.
pub(super) async fn listen(
    State(front): State<Arc<Front>>,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    match session_at(&front, &uri, &headers).await {
        Ok(session) => events(None, until_over(&session)),
        Err(refused) => *refused,
    }
}

/// What is said to a session, until it is over.
pub(super) fn until_over(session: &Arc<Session>) -> mpsc::Receiver<String> {
    let mut said = session.listen();
    let (messages, stream) = mpsc::channel(16);
    let over = session.over.clone();
    tokio::spawn(async move {
        while let Some(Some(message)) = over.run_until_cancelled(said.recv()).await {
            if messages.send(message).await.is_err() {
                return;
            }
        }
    });
    stream
}

/// Ends a session.
pub(super) async fn leave(
    State(front): State<Arc<Front>>,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    match session_at(&front, &uri, &headers).await {
        Ok(session) => {
            front.gateway.sessions().close(&session.id);
            StatusCode::NO_CONTENT.into_response()
        }
        Err(refused) => *refused,
    }
}

#[cfg(test)]
mod tests {
    use super::is_answer;

    #[test]
    fn an_answer_is_told_from_what_comes_before_it() {
        for (message, expected) in [
            (r#"{"jsonrpc":"2.0","id":7,"result":{"a":1,"method":"x"}}"#, true),
            (r#"{"jsonrpc":"2.0","id":"7,\"method\":","error":{}}"#, true),
            (r#"{"jsonrpc":"2.0","id":7,"method":"elicitation/create"}"#, false),
            (r#"{"jsonrpc":"2.0","method":"notifications/progress"}"#, false),
        ] {
            assert_eq!(is_answer(message), expected, "{message}");
        }
    }
}
