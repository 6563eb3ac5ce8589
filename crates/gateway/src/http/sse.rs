//! The HTTP transport of the first revision: one stream for all that we say, and a place to post to.

use std::sync::Arc;

use axum::body::to_bytes;
use axum::extract::{Query, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde::Deserialize;
use switchboard_wire::Revision;
use switchboard_wire::envelope::{self, Message};
use tokio::sync::mpsc;

use super::body::{accepted, events_with, refusal};
use super::legacy;
use super::post::Front;
use crate::client::{Abilities, Client};
use crate::envelope::response;
use crate::session::Session;
use crate::stdio::Greeting;

/// Where a client of the first revision posts to.
#[derive(Deserialize)]
pub(super) struct Place {
    session: String,
}

/// Opens the stream; its first event says where to post.
pub(super) async fn open(State(front): State<Arc<Front>>, headers: HeaderMap) -> Response {
    let access = match front.door.admit(&headers).await {
        Ok(access) => access,
        Err(refused) => return refused,
    };
    let client = Client::new(&access, None, Revision::V2024_11_05, Abilities::default());
    let Some(session) = front.gateway.sessions().open(Arc::new(client)) else {
        return refusal(StatusCode::SERVICE_UNAVAILABLE, -32_603, "there are too many sessions");
    };
    let place = format!("event: endpoint\ndata: /messages?session={}\n\n", session.id);
    events_with(place, legacy::until_over(&session))
}

/// Takes a message; what is answered comes on the stream.
pub(super) async fn posted(
    State(front): State<Arc<Front>>,
    Query(place): Query<Place>,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    let access = match front.door.admit(&parts.headers).await {
        Ok(access) => access,
        Err(refused) => return refused,
    };
    let Some(session) = front.gateway.sessions().get(&place.session, &access.identity) else {
        return refusal(StatusCode::NOT_FOUND, -32_600, "there is no such session");
    };
    let limit = front.gateway.options().body_limit_bytes;
    let Ok(body) = to_bytes(body, limit).await else {
        return refusal(StatusCode::PAYLOAD_TOO_LARGE, -32_600, "the message is too long");
    };
    match envelope::read(&body) {
        Ok(Message::Request { id, method, params }) if method == "initialize" => {
            let greeting: Greeting<'_> =
                params.as_ref().and_then(|params| params.read().ok()).unwrap_or_default();
            let client = Arc::new(greeting.client(&access));
            session.introduce(client);
            let asked = legacy::asked(&session, mpsc::channel(1).0, (id.clone(), method, None));
            session.say_surely(response(&id, Ok(&front.gateway.welcome(&asked).await))).await;
        }
        Ok(Message::Request { id, method, params }) => {
            let (messages, stream) = mpsc::channel(64);
            legacy::spawn(&front.gateway, &session, messages, (id, method, params));
            tokio::spawn(carry(session, stream));
        }
        Ok(message) => legacy::tell(&session, message),
        Err(_) => return refusal(StatusCode::BAD_REQUEST, -32_700, "the body is no message"),
    }
    accepted()
}

async fn carry(session: Arc<Session>, mut stream: mpsc::Receiver<String>) {
    while let Some(message) = stream.recv().await {
        session.say_surely(message).await;
    }
}
