//! The MCP endpoint: early rejections, and routing by verb.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::http::Method;
use parking_lot::Mutex;
use serde_json::json;
use tokio::sync::mpsc;

use super::post::session;
use super::raw::HttpSite;
use super::reply::{FixtureReply, FixtureRequest, event};
use super::{post, request_faults, two_endpoints};
use crate::exchange::{Emission, FixtureConversation, Outlet};
use crate::options::{FixtureEra, FixtureTransport};
use crate::server::{Exchange, FixtureServer};

#[derive(Clone, Debug)]
pub(crate) struct FixtureSession {
    pub(crate) id: String,
    pub(crate) conversation: Arc<FixtureConversation>,
    /// The event stream of HTTP+SSE, which carries all answers; POST responses carry none.
    pub(crate) outlet: Option<Outlet>,
}

#[derive(Debug)]
pub(crate) struct FixtureEndpoint {
    pub(crate) server: Arc<FixtureServer>,
    sessions: Mutex<HashMap<String, FixtureSession>>,
    /// Answers by event id, for clients that resume with `Last-Event-ID`.
    replays: Mutex<HashMap<String, String>>,
    counter: AtomicU64,
}

impl FixtureEndpoint {
    pub(crate) fn new(server: Arc<FixtureServer>) -> Self {
        Self {
            server,
            sessions: Mutex::default(),
            replays: Mutex::default(),
            counter: AtomicU64::new(0),
        }
    }

    pub(crate) fn number(&self) -> u64 {
        self.counter.fetch_add(1, Ordering::Relaxed) + 1
    }

    pub(crate) fn exchange(
        &self,
        conversation: Arc<FixtureConversation>,
    ) -> (Exchange, mpsc::Receiver<Emission>) {
        let (outlet, emissions) = Outlet::new();
        (Exchange { server: Arc::clone(&self.server), conversation, outlet }, emissions)
    }

    pub(crate) fn open_session(&self, outlet: Option<Outlet>) -> FixtureSession {
        let id = format!("session-{}-{}", std::process::id(), self.number());
        let session = FixtureSession { id: id.clone(), conversation: Arc::default(), outlet };
        self.sessions.lock().insert(id, session.clone());
        session
    }

    pub(crate) fn session(&self, id: &str) -> Option<FixtureSession> {
        self.sessions.lock().get(id).cloned()
    }

    pub(crate) fn end_session(&self, id: &str) -> bool {
        self.sessions.lock().remove(id).is_some()
    }

    pub(crate) fn store_answer(&self, event: String, answer: String) {
        self.replays.lock().insert(event, answer);
    }

    pub(crate) fn stored_answer(&self, event: &str) -> Option<String> {
        self.replays.lock().get(event).cloned()
    }

    pub(crate) async fn handle(self: &Arc<Self>, asked: FixtureRequest) -> FixtureReply {
        let mut record = asked.record(json!(String::from_utf8_lossy(&asked.body)));
        record["transport"] = json!("http");
        self.server.trace.line(&record.to_string());
        if let Some(origin) = asked.header("origin")
            && !is_loopback(origin)
        {
            return FixtureReply::empty(403);
        }
        if let Some(reply) = request_faults::before_parsing(self, &asked) {
            return reply;
        }
        if self.server.options.transport == FixtureTransport::Sse {
            return two_endpoints::handle(self, &asked);
        }
        if asked.path != "/mcp" {
            return FixtureReply::empty(404);
        }
        let sessions = self.server.era != FixtureEra::Modern;
        match asked.verb {
            Method::POST => post::post(self, &asked).await,
            Method::GET if sessions && !self.server.options.no_get_stream => get(self, &asked),
            Method::DELETE if sessions => self.delete(&asked),
            _ => FixtureReply::empty(405).with("allow", "POST"),
        }
    }

    fn delete(&self, asked: &FixtureRequest) -> FixtureReply {
        let ended = asked.header("mcp-session-id").is_some_and(|id| self.end_session(id));
        FixtureReply::empty(if ended { 204 } else { 404 })
    }
}

impl HttpSite for FixtureEndpoint {
    async fn answer(self: Arc<Self>, asked: FixtureRequest) -> FixtureReply {
        self.handle(asked).await
    }

    fn idle_close(&self) -> Option<Duration> {
        let fault = self.server.fault().filter(|fault| fault.name == "idle-close")?;
        Some(fault.pause(0))
    }
}

/// Returns the refusal of a message whose content headers are wrong.
pub(crate) fn content_complaint(asked: &FixtureRequest) -> Option<FixtureReply> {
    let of_type = asked.header("content-type").unwrap_or_default();
    if !of_type.starts_with("application/json") {
        return Some(FixtureReply::empty(415));
    }
    let accepted = asked.header("accept").unwrap_or_default();
    if !accepted.contains("application/json") || !accepted.contains("text/event-stream") {
        return Some(FixtureReply::empty(406));
    }
    None
}

fn is_loopback(origin: &str) -> bool {
    let host = origin.split("://").nth(1).unwrap_or_default();
    ["localhost", "127.0.0.1", "[::1]"].iter().any(|name| {
        host.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
    })
}

pub(crate) fn get(endpoint: &Arc<FixtureEndpoint>, asked: &FixtureRequest) -> FixtureReply {
    let session = match session(endpoint, asked) {
        Ok(session) => session,
        Err(refusal) => return refusal,
    };
    if !asked.header("accept").unwrap_or_default().contains("text/event-stream") {
        return FixtureReply::empty(406);
    }
    let missed = asked.header("last-event-id").and_then(|last| {
        // The same answer under two event ids: the client must detect the duplicate.
        let answer = endpoint.stored_answer(last)?;
        let ids = [format!("{last}-first"), format!("{last}-again")];
        Some(ids.map(|id| event(Some(&id), &answer)))
    });
    let (pieces, receiver) = mpsc::channel(16);
    let mut changes = endpoint.server.changes();
    tokio::spawn(async move {
        for piece in missed.into_iter().flatten() {
            let _ = pieces.send(piece).await;
        }
        loop {
            tokio::select! {
                Ok(change) = changes.recv() => {
                    if change.is_for(&session.conversation) {
                        let _ = pieces.send(event(None, &change.notice(None))).await;
                    }
                }
                () = pieces.closed() => return,
            }
        }
    });
    FixtureReply::stream(receiver)
}
