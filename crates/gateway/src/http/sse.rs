//! The HTTP transport of the first revision: one stream for all that we say, and a place to post to.

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, Request, State};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::Response;
use serde::Deserialize;
use switchboard_wire::envelope::{self, Message};
use switchboard_wire::{Revision, RpcError};
use tokio::sync::mpsc;

use super::body::{accepted, events_with, full, no_room, read, refusal};
use super::legacy;
use super::post::{Front, not_json};
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
pub(super) async fn open(
    State(front): State<Arc<Front>>,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    let access = match front.door.admit(&uri, &headers).await {
        Ok(access) => access,
        Err(refused) => return refused,
    };
    let client = Client::new(&access, None, Revision::V2024_11_05, Abilities::default());
    let session = match front.gateway.sessions().open(Arc::new(client)) {
        Ok(session) => session,
        Err(crowded) => return no_room(crowded),
    };
    let place = format!("event: endpoint\ndata: /messages?session={}\n\n", session.id);
    events_with(place, legacy::until_over(&session))
}

/// Takes a message; what is answered comes on the stream.
pub(super) async fn posted(
    State(front): State<Arc<Front>>,
    place: Result<Query<Place>, QueryRejection>,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    let access = match front.door.admit(&parts.uri, &parts.headers).await {
        Ok(access) => access,
        Err(refused) => return refused,
    };
    if let Some(refused) = not_json(&parts.headers) {
        return refused;
    }
    let sessions = front.gateway.sessions();
    let found = place.ok().and_then(|Query(place)| sessions.get(&place.session, &access.identity));
    let Some(session) = found else {
        return refusal(StatusCode::NOT_FOUND, -32_600, "there is no such session");
    };
    let body = match read(body, front.gateway.options()).await {
        Ok(body) => body,
        Err(refused) => return refused,
    };
    match envelope::read_strictly(&body) {
        Ok(Message::Request { id, method, params }) if method == "initialize" => {
            let _pass = match front.gateway.enter(&access.identity) {
                Ok(pass) => pass,
                Err(refused) => return full(&id, refused),
            };
            match Greeting::read(params.as_ref()) {
                Ok(greeting) => session.introduce(Arc::new(greeting.client(&access))),
                Err(error) => {
                    session.say_surely(response(&id, Err(&error))).await;
                    return accepted();
                }
            }
            let asked = legacy::asked(&session, mpsc::channel(1).0, (id.clone(), method, None));
            session
                .say_surely(response(&id, Ok(&front.gateway.welcome(&asked).await.into())))
                .await;
        }
        Ok(Message::Request { id, method, params }) => {
            // Before it is let in: who is let in keeps the stream open while we end.
            let answering = session.answering();
            let pass = match front.gateway.enter(&access.identity) {
                Ok(pass) => Arc::new(pass),
                Err(refused) => return full(&id, refused),
            };
            let (messages, stream) = mpsc::channel(64);
            let request = (id, method, params);
            legacy::spawn(&front.gateway, &session, messages, request, Arc::clone(&pass));
            tokio::spawn(async move {
                carry(&session, stream).await;
                // Answers that nobody reads count: there would be no end of them.
                drop((answering, pass));
            });
        }
        Ok(message) => legacy::tell(&session, message),
        Err(_) if envelope::is_batch(&body) => {
            let why = "the first revision has no batches";
            return refusal(StatusCode::BAD_REQUEST, -32_600, why);
        }
        Err(why) => {
            let error = RpcError::from(why);
            return refusal(StatusCode::BAD_REQUEST, error.code, error.message);
        }
    }
    accepted()
}

async fn carry(session: &Session, mut stream: mpsc::Receiver<String>) {
    while let Some(message) = stream.recv().await {
        session.say_surely(message).await;
    }
}
