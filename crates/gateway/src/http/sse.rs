//! HTTP+SSE, the transport of the first revision: one event stream, and an endpoint to post to.

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, Request, State};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::Response;
use serde::Deserialize;
use switchboard_wire::{Message, Revision, RpcError};
use tokio::sync::mpsc;

use super::body::{
    accepted_response, bad_request, error_response, event_stream_after, read_body,
    too_many_requests, too_many_sessions,
};
use super::legacy;
use super::router::{AppState, reject_non_json};
use crate::client::{ClientCapabilities, McpClient};
use crate::reply::response;
use crate::stdio::InitializeParams;

#[derive(Deserialize)]
pub(super) struct MessageQuery {
    session: String,
}

/// Opens the event stream; its first event contains the endpoint.
pub(super) async fn open_stream(
    State(front): State<Arc<AppState>>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, Response> {
    let access = front.access.admit(&uri, &headers).await?;
    let client =
        McpClient::new(&access, None, Revision::V2024_11_05, ClientCapabilities::default());
    let session = front.gateway.inner.sessions.open(Arc::new(client)).map_err(too_many_sessions)?;
    let place = format!("event: endpoint\ndata: /messages?session={}\n\n", session.id);
    Ok(event_stream_after(place, legacy::session_stream(&session)))
}

/// Accepts a message; its answer is sent on the event stream.
pub(super) async fn handle_post(
    State(front): State<Arc<AppState>>,
    place: Result<Query<MessageQuery>, QueryRejection>,
    request: Request,
) -> Result<Response, Response> {
    let (parts, body) = request.into_parts();
    let access = front.access.admit(&parts.uri, &parts.headers).await?;
    if let Some(refused) = reject_non_json(&parts.headers) {
        return Err(refused);
    }
    let sessions = &front.gateway.inner.sessions;
    let found = place.ok().and_then(|Query(place)| sessions.get(&place.session, &access.identity));
    let unknown = || error_response(StatusCode::NOT_FOUND, -32_600, "unknown session");
    let session = found.ok_or_else(unknown)?;
    let body = read_body(body, &front.gateway.inner.options).await?;
    let admit = || front.gateway.admit_request(&access.identity);
    match Message::parse_strict(&body) {
        Ok(Message::Request { id, method, params }) if method == "initialize" => {
            let _pass = admit().map_err(|refused| too_many_requests(&id, refused))?;
            match InitializeParams::parse(params.as_ref()) {
                Ok(greeting) => session.set_client(Arc::new(greeting.client(&access))),
                Err(error) => {
                    session.send_reliably(response(&id, Err(&error))).await;
                    return Ok(accepted_response());
                }
            }
            let asked =
                legacy::client_request(&session, mpsc::channel(1).0, id.clone(), method, None);
            let result = front.gateway.initialize_result(&asked).await.into();
            session.send_reliably(response(&id, Ok(&result))).await;
        }
        Ok(Message::Request { id, method, params }) => {
            // Taken before admission: an admitted request keeps the stream open at shutdown.
            let answering = session.hold_stream();
            let pass = Arc::new(admit().map_err(|refused| too_many_requests(&id, refused))?);
            let (messages, mut stream) = mpsc::channel(64);
            let asked = legacy::client_request(&session, messages.clone(), id, method, params);
            legacy::spawn_request(&front.gateway, &session, messages, asked, Arc::clone(&pass));
            tokio::spawn(async move {
                while let Some(message) = stream.recv().await {
                    session.send_reliably(message).await;
                }
                // Held until the answers are sent, so that unread answers count against the limit.
                drop((answering, pass));
            });
        }
        Ok(message) => legacy::handle_one_way(&session, message),
        Err(_) if Message::is_batch(&body) => {
            return Err(bad_request("revision 2024-11-05 has no batches"));
        }
        Err(why) => {
            let error = RpcError::from(why);
            return Err(error_response(StatusCode::BAD_REQUEST, error.code, error.message));
        }
    }
    Ok(accepted_response())
}
