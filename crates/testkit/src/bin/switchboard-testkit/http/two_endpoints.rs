//! The HTTP+SSE transport of 2024-11-05: one stream that answers, one address that is posted to.

use std::sync::Arc;

use axum::http::Method;
use bytes::Bytes;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::door;
use super::endpoint::{Endpoint, Session};
use super::reply::{Asked, Reply, event};
use crate::emission::{Emission, Outlet};
use crate::message::{self, Received};
use crate::server::{self, Exchange};

pub(crate) fn handle(endpoint: &Arc<Endpoint>, asked: &Asked) -> Reply {
    match (asked.path.as_str(), &asked.verb) {
        ("/sse", &Method::GET) => open(endpoint),
        ("/messages", &Method::POST) => post(endpoint, asked),
        ("/sse" | "/messages", _) => Reply::empty(405),
        _ => Reply::empty(404),
    }
}

fn open(endpoint: &Arc<Endpoint>) -> Reply {
    let (outlet, emissions) = Outlet::new();
    let session = endpoint.open_session(Some(outlet));
    let (pieces, receiver) = mpsc::channel(16);
    tokio::spawn(pump(Arc::clone(endpoint), session, emissions, pieces));
    Reply::stream(receiver)
}

async fn pump(
    endpoint: Arc<Endpoint>,
    session: Session,
    mut emissions: mpsc::Receiver<Emission>,
    pieces: mpsc::Sender<Bytes>,
) {
    let (mut changes, mut news) = (endpoint.server.changes(), server::news());
    let address = format!("event: endpoint\ndata: /messages?session={}\n\n", session.id);
    let _ = pieces.send(Bytes::from(address)).await;
    loop {
        let text = tokio::select! {
            emission = emissions.recv() => match emission {
                Some(Emission::Notice(text) | Emission::Final(text, _)) => text,
                // Bytes instead of a message cannot be put into this stream, so it ends.
                Some(Emission::Wire(_)) | None => break,
            },
            change = changes.recv() => match change {
                Ok(()) => message::notice("notifications/tools/list_changed", &json!({})),
                Err(_) => break,
            },
            Ok(news) = news.recv() => match news.is_for(&session.conversation) {
                true => news.notice(None),
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

fn post(endpoint: &Arc<Endpoint>, asked: &Asked) -> Reply {
    let session = asked.query("session").and_then(|id| endpoint.session(id));
    let Some(Session { conversation, outlet: Some(outlet), .. }) = session else {
        return Reply::empty(404);
    };
    let Ok(value) = serde_json::from_slice::<Value>(&asked.body) else { return Reply::empty(400) };
    let exchange = Exchange { server: Arc::clone(&endpoint.server), conversation, outlet };
    match Received::read(value) {
        Received::Message(incoming) => {
            if let Some(reply) = door::on(endpoint, asked, &incoming.method) {
                return reply;
            }
            if let Some(accepted) = server::accept(&exchange, incoming) {
                tokio::spawn(accepted.work());
            }
        }
        Received::Reply(reply) => exchange.conversation.replied(reply),
        Received::Batch(_) | Received::Nonsense => return Reply::empty(400),
    }
    Reply::empty(202)
}
