//! Messages by POST: within a session, or on their own in the modern era.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::Value;
use tokio::sync::mpsc;

use super::endpoint::{FixtureEndpoint, FixtureSession, content_complaint};
use super::reply::{FixtureReply, FixtureRequest, event};
use super::{modern, request_faults};
use crate::exchange::{Emission, FixtureConversation};
use crate::journal;
use crate::message::{INVALID_REQUEST, IncomingMessage, PARSE_ERROR, ReceivedMessage};
use crate::server::{self, Exchange, FixtureServer};

pub(crate) async fn post(endpoint: &Arc<FixtureEndpoint>, asked: &FixtureRequest) -> FixtureReply {
    if let Some(complaint) = content_complaint(asked) {
        return complaint;
    }
    let Ok(value) = serde_json::from_slice::<Value>(&asked.body) else {
        return FixtureReply::refuse(400, PARSE_ERROR, "Parse error");
    };
    let received = ReceivedMessage::read(value);
    if let ReceivedMessage::Message(incoming) = &received {
        if let Some(reply) = request_faults::on_method(endpoint, asked, &incoming.method) {
            return reply;
        }
        if modern::is_modern(endpoint.server.era, asked, incoming) {
            if let Some(complaint) = modern::complaint(asked, incoming) {
                return complaint;
            }
            let conversation = Arc::default();
            return run(endpoint, conversation, incoming.clone(), true).await;
        }
    }
    legacy(endpoint, asked, received).await
}

async fn legacy(
    endpoint: &Arc<FixtureEndpoint>,
    asked: &FixtureRequest,
    received: ReceivedMessage,
) -> FixtureReply {
    if let ReceivedMessage::Message(incoming) = &received
        && incoming.method == "initialize"
    {
        let session = endpoint.open_session(None);
        let conversation = Arc::clone(&session.conversation);
        let reply = run(endpoint, conversation, incoming.clone(), false).await;
        return reply.with("mcp-session-id", session.id);
    }
    let session = match session(endpoint, asked) {
        Ok(session) => session,
        Err(refusal) => return refusal,
    };
    match received {
        ReceivedMessage::Message(incoming) if request_faults::replays(endpoint, &incoming) => {
            replay(endpoint, &session, incoming).await
        }
        ReceivedMessage::Message(incoming) => {
            run(endpoint, session.conversation, incoming, false).await
        }
        ReceivedMessage::Reply(reply) => {
            session.conversation.deliver_reply(reply);
            FixtureReply::empty(202)
        }
        ReceivedMessage::Batch(items) => {
            let (exchange, emissions) = endpoint.exchange(session.conversation);
            tokio::spawn(async move { server::batch(&exchange, items).await });
            reply_from_emissions(endpoint, emissions, None).await
        }
        ReceivedMessage::Nonsense => FixtureReply::refuse(400, INVALID_REQUEST, "Invalid request"),
    }
}

/// Returns the session that a legacy request names. The refusals imitate those of real servers.
pub(crate) fn session(
    endpoint: &FixtureEndpoint,
    asked: &FixtureRequest,
) -> Result<FixtureSession, FixtureReply> {
    let Some(id) = asked.header("mcp-session-id") else {
        return Err(FixtureReply::refuse(400, -32000, "Bad Request: Server not initialized"));
    };
    let Some(session) = endpoint.session(id) else {
        return Err(FixtureReply::refuse(404, -32001, "Session not found"));
    };
    let revision = session.conversation.revision().unwrap_or_default();
    let header = asked.header("mcp-protocol-version");
    if revision.as_str() >= "2025-06-18" && header.is_some_and(|header| header != revision) {
        let message = "Bad Request: Unsupported protocol version";
        return Err(FixtureReply::refuse(400, -32000, message));
    }
    Ok(session)
}

async fn run(
    endpoint: &Arc<FixtureEndpoint>,
    conversation: Arc<FixtureConversation>,
    incoming: IncomingMessage,
    modern: bool,
) -> FixtureReply {
    let (exchange, emissions) = endpoint.exchange(conversation);
    let id = incoming.id().clone();
    let Some(accepted) = server::accept(&exchange, incoming) else {
        return FixtureReply::empty(202);
    };
    // The guard must not hold the outlet, which would keep the stream open.
    let Exchange { server, conversation, .. } = exchange;
    let departure = modern.then(|| CancelOnDeparture { server, conversation, id, stays: false });
    tokio::spawn(accepted.work());
    reply_from_emissions(endpoint, emissions, departure).await
}

/// Cancels a request when dropped, unless `stay` was called: modern clients cancel by hanging up.
struct CancelOnDeparture {
    server: Arc<FixtureServer>,
    conversation: Arc<FixtureConversation>,
    id: Value,
    stays: bool,
}

impl CancelOnDeparture {
    fn stay(mut self) {
        self.stays = true;
    }
}

impl Drop for CancelOnDeparture {
    fn drop(&mut self) {
        if !self.stays && self.conversation.cancel(&self.id) {
            self.server.journal.line(&format!("cancelled {}", journal::plain(&self.id)));
        }
    }
}

/// Replies with JSON if the answer comes first, or with an event stream if other messages do.
async fn reply_from_emissions(
    endpoint: &FixtureEndpoint,
    mut emissions: mpsc::Receiver<Emission>,
    departure: Option<CancelOnDeparture>,
) -> FixtureReply {
    let modern = departure.is_some();
    let first = emissions.recv().await;
    let stream = endpoint.server.options.sse_answers;
    match first {
        Some(Emission::Final(text, code)) if !stream || (modern && modern::status(code) != 200) => {
            if let Some(departure) = departure {
                departure.stay();
            }
            FixtureReply::json(if modern { modern::status(code) } else { 200 }, text)
        }
        Some(Emission::Wire(steps)) => FixtureReply::wire(steps),
        Some(first) => {
            let (pieces, receiver) = mpsc::channel(16);
            tokio::spawn(pump(first, emissions, pieces, departure));
            FixtureReply::stream(receiver)
        }
        // Only a cancelled request ends without an answer.
        None => FixtureReply::stream(mpsc::channel(1).1),
    }
}

async fn pump(
    first: Emission,
    mut emissions: mpsc::Receiver<Emission>,
    pieces: mpsc::Sender<Bytes>,
    departure: Option<CancelOnDeparture>,
) {
    let mut next = Some(first);
    while let Some(emission) = next {
        if let Emission::Notice(text) | Emission::Final(text, _) = emission
            && pieces.send(event(None, &text)).await.is_err()
        {
            return;
        }
        next = tokio::select! {
            emission = emissions.recv() => emission,
            () = pieces.closed() => return,
        };
    }
    if let Some(departure) = departure {
        departure.stay();
    }
}

/// Runs the call, stores its answer, and closes the stream right after an event with an id.
async fn replay(
    endpoint: &Arc<FixtureEndpoint>,
    session: &FixtureSession,
    incoming: IncomingMessage,
) -> FixtureReply {
    let (exchange, _emissions) = endpoint.exchange(Arc::clone(&session.conversation));
    let answer = server::answer(&exchange, &incoming).await.render(incoming.id());
    let event = format!("replay-{}", endpoint.number());
    endpoint.store_answer(event.clone(), answer);
    let (pieces, receiver) = mpsc::channel(1);
    let _ = pieces.send(Bytes::from(format!("id: {event}\nretry: 50\ndata:\n\n"))).await;
    FixtureReply::stream(receiver)
}
