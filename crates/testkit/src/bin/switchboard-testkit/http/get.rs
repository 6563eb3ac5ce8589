//! The stream a legacy client opens by GET, for notifications and for what it missed.

use std::sync::Arc;

use serde_json::json;
use tokio::sync::mpsc;

use super::endpoint::FixtureEndpoint;
use super::post::session;
use super::reply::{FixtureReply, FixtureRequest, event};
use crate::message;
use crate::server;

pub(crate) fn get(endpoint: &Arc<FixtureEndpoint>, asked: &FixtureRequest) -> FixtureReply {
    let session = match session(endpoint, asked) {
        Ok(session) => session,
        Err(refusal) => return refusal,
    };
    if !asked.header("accept").unwrap_or_default().contains("text/event-stream") {
        return FixtureReply::empty(406);
    }
    let missed = asked.header("last-event-id").and_then(|last| {
        // The same answer under two ids: the client has to notice that it has it already.
        let answer = endpoint.stored_answer(last)?;
        let ids = [format!("{last}-first"), format!("{last}-again")];
        Some(ids.map(|id| event(Some(&id), &answer)))
    });
    let (pieces, receiver) = mpsc::channel(16);
    let mut changes = endpoint.server.changes();
    let mut news = server::watch_changes();
    tokio::spawn(async move {
        for piece in missed.into_iter().flatten() {
            let _ = pieces.send(piece).await;
        }
        let changed = message::notice("notifications/tools/list_changed", &json!({}));
        loop {
            tokio::select! {
                change = changes.recv() => {
                    if change.is_err() || pieces.send(event(None, &changed)).await.is_err() {
                        return;
                    }
                }
                Ok(news) = news.recv() => {
                    if news.is_for(&session.conversation) {
                        let _ = pieces.send(event(None, &news.notice(None))).await;
                    }
                }
                () = pieces.closed() => return,
            }
        }
    });
    FixtureReply::stream(receiver)
}
