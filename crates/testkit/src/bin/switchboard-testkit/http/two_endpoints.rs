//! The HTTP+SSE transport of 2024-11-05: one endpoint for the event stream, one for messages.

use std::sync::Arc;

use axum::http::Method;
use bytes::Bytes;
use serde_json::Value;
use tokio::sync::mpsc;

use super::endpoint::{FixtureEndpoint, FixtureSession};
use super::reply::{FixtureReply, FixtureRequest, event};
use super::request_faults;
use crate::exchange::{Emission, Outlet};
use crate::message::ReceivedMessage;
use crate::server::{self, Exchange};

pub(crate) fn handle(endpoint: &Arc<FixtureEndpoint>, asked: &FixtureRequest) -> FixtureReply {
    match (asked.path.as_str(), &asked.verb) {
        ("/sse", &Method::GET) => open(endpoint),
        ("/messages", &Method::POST) => post(endpoint, asked),
        ("/sse" | "/messages", _) => FixtureReply::empty(405),
        _ => FixtureReply::empty(404),
    }
}

fn open(endpoint: &Arc<FixtureEndpoint>) -> FixtureReply {
    let (outlet, emissions) = Outlet::new();
    let session = endpoint.open_session(Some(outlet));
    let (pieces, receiver) = mpsc::channel(16);
    tokio::spawn(pump(Arc::clone(endpoint), session, emissions, pieces));
    FixtureReply::stream(receiver)
}

async fn pump(
    endpoint: Arc<FixtureEndpoint>,
    session: FixtureSession,
    mut emissions: mpsc::Receiver<Emission>,
    pieces: mpsc::Sender<Bytes>,
) {
    let mut changes = endpoint.server.changes();
    let address = format!("event: endpoint\ndata: /messages?session={}\n\n", session.id);
    let _ = pieces.send(Bytes::from(address)).await;
    loop {
        let text = tokio::select! {
            emission = emissions.recv() => match emission {
                Some(Emission::Notice(text) | Emission::Final(text, _)) => text,
                // Raw bytes do not fit into an event stream, so it ends.
                Some(Emission::Wire(_)) | None => break,
            },
            Ok(change) = changes.recv() => match change.is_for(&session.conversation) {
                true => change.notice(None),
                false => continue,
            },
            () = pieces.closed() => break,
        };
        if pieces.send(event(None, &text)).await.is_err() {
            break;
        }
    }
    endpoint.end_session(&session.id);
}

fn post(endpoint: &Arc<FixtureEndpoint>, asked: &FixtureRequest) -> FixtureReply {
    let session = asked.query("session").and_then(|id| endpoint.session(id));
    let Some(FixtureSession { conversation, outlet: Some(outlet), .. }) = session else {
        return FixtureReply::empty(404);
    };
    let Ok(value) = serde_json::from_slice::<Value>(&asked.body) else {
        return FixtureReply::empty(400);
    };
    let exchange = Exchange { server: Arc::clone(&endpoint.server), conversation, outlet };
    match ReceivedMessage::read(value) {
        ReceivedMessage::Message(incoming) => {
            if let Some(reply) = request_faults::on_method(endpoint, asked, &incoming.method) {
                return reply;
            }
            if let Some(accepted) = server::accept(&exchange, incoming) {
                tokio::spawn(accepted.work());
            }
        }
        ReceivedMessage::Reply(reply) => exchange.conversation.deliver_reply(reply),
        ReceivedMessage::Batch(_) | ReceivedMessage::Nonsense => return FixtureReply::empty(400),
    }
    FixtureReply::empty(202)
}
