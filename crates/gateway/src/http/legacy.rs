//! Requests of the legacy era, which belong to sessions.

use std::sync::{Arc, OnceLock};

use axum::body::Bytes;
use axum::extract::State;
use axum::http::header::ALLOW;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use switchboard_access::Access;
use switchboard_net::single_header;
use switchboard_wire::{Json, Message, Revision};
use tokio::sync::mpsc;

use super::body::{
    accepted_response, bad_request, error_response, event_stream, json_response, json_with_permit,
    too_many_requests, too_many_sessions,
};
use super::router::AppState;
use crate::client::ReplyChannel;
use crate::client_request::ClientRequest;
use crate::gateway::Gateway;
use crate::reply::response;
use crate::session::LegacySession;
use crate::stdio::{InitializeParams, cancelled_id};

const SESSION_HEADER: &str = "mcp-session-id";

pub(super) async fn handle_message(
    front: &Arc<AppState>,
    headers: &HeaderMap,
    access: &Access,
    message: Message,
) -> Result<Response, Response> {
    if let Message::Request { id, method, params } = &message
        && method == "initialize"
    {
        return initialize(&front.gateway, access, id, params.as_ref()).await;
    }
    let session = require_session(front, headers, access).map_err(|refused| *refused)?;
    match message {
        Message::Request { id, method, params } => {
            let pass = front.gateway.admit_request(&access.identity);
            let pass = Arc::new(pass.map_err(|refused| too_many_requests(&id, refused))?);
            let (messages, mut stream) = mpsc::channel(64);
            let asked = client_request(&session, messages.clone(), id, method, params);
            spawn_request(&front.gateway, &session, messages, asked, Arc::clone(&pass));
            // A single message is the answer; several are sent as a stream.
            let Some(first) = stream.recv().await else {
                // The request was cancelled and has no answer.
                return Ok(event_stream(None, stream));
            };
            Ok(match is_answer(&first) {
                true => json_with_permit(StatusCode::OK, first, pass),
                false => event_stream(Some(first), stream),
            })
        }
        message => {
            handle_one_way(&session, message);
            Ok(accepted_response())
        }
    }
}

/// Handles a batch, which only revision 2025-03-26 has.
pub(super) fn handle_batch(
    front: &Arc<AppState>,
    headers: &HeaderMap,
    access: &Access,
    body: &Bytes,
) -> Response {
    let refused = || bad_request("batches are accepted only in a session of revision 2025-03-26");
    if !headers.contains_key(SESSION_HEADER) {
        return refused();
    }
    let session = match require_session(front, headers, access) {
        Ok(session) if session.client().revision.allows_batches() => session,
        Ok(_) => return refused(),
        Err(refused) => return *refused,
    };
    let (messages, stream) = mpsc::channel(64);
    let mut requests = Vec::new();
    let mut others = Vec::new();
    let members = Message::split_batch(body).unwrap_or_default();
    if members.is_empty() || members.iter().any(|member| Message::is_batch(member)) {
        return bad_request("the batch must be a list of messages that is not empty");
    }
    for member in members {
        match Message::parse_strict(&member) {
            Ok(Message::Request { id, method, params }) => {
                match front.gateway.admit_request(&access.identity) {
                    Ok(pass) => {
                        let messages = messages.clone();
                        let asked = client_request(&session, messages, id, method, params);
                        requests.push((asked, pass));
                    }
                    Err(refused) => return too_many_requests(&id, refused),
                }
            }
            Ok(message) => others.push(message),
            Err(_) => return bad_request("a member of the batch is not a message"),
        }
    }
    // Started only now, so that a batch is accepted as a whole or not at all.
    let has_requests = !requests.is_empty();
    for (asked, pass) in requests {
        spawn_request(&front.gateway, &session, messages.clone(), asked, pass);
    }
    for message in others {
        handle_one_way(&session, message);
    }
    drop(messages);
    if has_requests { event_stream(None, stream) } else { accepted_response() }
}

async fn initialize(
    gateway: &Gateway,
    access: &Access,
    id: &Json,
    params: Option<&Json>,
) -> Result<Response, Response> {
    let greeting = InitializeParams::parse(params)
        .map_err(|error| json_response(StatusCode::OK, response(id, Err(&error))))?;
    let pass = gateway.admit_request(&access.identity);
    let _pass = pass.map_err(|refused| too_many_requests(id, refused))?;
    let client = Arc::new(greeting.client(access));
    let session = gateway.inner.sessions.open(client).map_err(too_many_sessions)?;
    let asked =
        client_request(&session, mpsc::channel(1).0, id.clone(), "initialize".to_owned(), None);
    let result = gateway.initialize_result(&asked).await.into();
    let mut answer = json_response(StatusCode::OK, response(id, Ok(&result)));
    if let Ok(value) = HeaderValue::from_str(&session.id) {
        answer.headers_mut().insert(SESSION_HEADER, value);
    }
    Ok(answer)
}

/// Answers a request in a task of its own, because disconnecting is not a cancellation in this era.
/// The request holds `pass` until it is answered.
pub(super) fn spawn_request(
    gateway: &Gateway,
    session: &Arc<LegacySession>,
    messages: mpsc::Sender<String>,
    asked: ClientRequest,
    pass: impl Send + 'static,
) {
    let id = asked.id.clone();
    let cancel = asked.cancel.clone();
    session.running.lock().insert(id.as_str().to_owned(), cancel.clone());
    let gateway = gateway.clone();
    let session = Arc::clone(session);
    tokio::spawn(async move {
        let answer = gateway.answer(&asked).await;
        drop(pass);
        session.running.lock().remove(id.as_str());
        // A request that its client cancelled gets no answer. The end of the session cancels too,
        // but is not the client's cancellation.
        if !cancel.is_cancelled() || session.ended.is_cancelled() {
            // The client may have disconnected without a cancellation.
            _ = messages.send(response(&id, answer.as_ref())).await;
        }
    });
}

pub(super) fn client_request(
    session: &Arc<LegacySession>,
    messages: mpsc::Sender<String>,
    id: Json,
    method: String,
    params: Option<Json>,
) -> ClientRequest {
    ClientRequest {
        client: session.client(),
        out: ReplyChannel::Stream { messages, session: Some(Arc::clone(session)) },
        id,
        method,
        params,
        parsed_params: OnceLock::new(),
        cancel: session.ended.child_token(),
    }
}

/// Handles a message that has no answer.
pub(super) fn handle_one_way(session: &LegacySession, message: Message) {
    match message {
        Message::Notification { method, params } if method == "notifications/cancelled" => {
            if let Some(id) = cancelled_id(params.as_ref())
                && let Some(cancel) = session.running.lock().get(&id)
            {
                cancel.cancel();
            }
        }
        Message::Response { id, answer } => session.resolve_ask(id, answer),
        Message::Notification { .. } | Message::Request { .. } => {}
    }
}

/// Returns whether a message to the client is the answer, not a request or notification before it.
fn is_answer(message: &str) -> bool {
    // Only requests of the gateway have both an id and a method, and their ids are numbers.
    let rest = message.strip_prefix(r#"{"jsonrpc":"2.0","id":"#);
    rest.is_some_and(|rest| {
        let after = rest.trim_start_matches(|character: char| character.is_ascii_digit());
        !after.starts_with(r#","method":"#)
    })
}

fn require_session(
    front: &AppState,
    headers: &HeaderMap,
    access: &Access,
) -> Result<Arc<LegacySession>, Box<Response>> {
    let refused = |status, why: &str| Box::new(error_response(status, -32_600, why));
    let version = headers.get("mcp-protocol-version").map(|value| value.to_str().unwrap_or(""));
    if version.is_some_and(|version| Revision::parse(version).is_none()) {
        return Err(refused(StatusCode::BAD_REQUEST, "unsupported `MCP-Protocol-Version`"));
    }
    // Reject duplicate headers: a proxy may have validated the other one.
    let id = single_header(headers, SESSION_HEADER).map_err(|_| {
        refused(StatusCode::BAD_REQUEST, "the header `Mcp-Session-Id` is duplicated or not text")
    })?;
    let Some(id) = id else {
        let why = "no session: send `initialize` first, or use revision 2026-07-28";
        return Err(refused(StatusCode::BAD_REQUEST, why));
    };
    front.gateway.inner.sessions.get(id, &access.identity).ok_or_else(|| {
        // With a 404, the protocol asks clients to start a new session.
        refused(StatusCode::NOT_FOUND, "unknown session: send `initialize` again")
    })
}

/// Returns the session of a GET or DELETE request. A client without a session gets a 405.
async fn admit_session(
    front: &AppState,
    uri: &Uri,
    headers: &HeaderMap,
) -> Result<Arc<LegacySession>, Response> {
    let access = front.access.admit(uri, headers).await?;
    if !headers.contains_key(SESSION_HEADER) {
        let allowed = [(ALLOW, HeaderValue::from_static("POST"))];
        return Err((StatusCode::METHOD_NOT_ALLOWED, allowed).into_response());
    }
    require_session(front, headers, &access).map_err(|refused| *refused)
}

/// Opens the stream of messages that do not belong to a request.
pub(super) async fn open_stream(
    State(front): State<Arc<AppState>>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, Response> {
    let session = admit_session(&front, &uri, &headers).await?;
    Ok(event_stream(None, session_stream(&session)))
}

/// Returns a receiver of the messages to a session, until that ends.
pub(super) fn session_stream(session: &Arc<LegacySession>) -> mpsc::Receiver<String> {
    // A second channel, so that the end of the session also ends a stream that is not read.
    let mut said = session.open_stream();
    let (messages, stream) = mpsc::channel(16);
    let over = session.ended.clone();
    tokio::spawn(async move {
        while let Some(Some(message)) = over.run_until_cancelled(said.recv()).await {
            if messages.send(message).await.is_err() {
                return;
            }
        }
    });
    stream
}

pub(super) async fn delete_session(
    State(front): State<Arc<AppState>>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<StatusCode, Response> {
    let session = admit_session(&front, &uri, &headers).await?;
    front.gateway.inner.sessions.close(&session.id);
    Ok(StatusCode::NO_CONTENT)
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
