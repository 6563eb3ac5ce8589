//! A message by POST: into a session, or on its own in the modern era.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::Value;
use tokio::sync::mpsc;

use super::endpoint::{FixtureEndpoint, FixtureSession, content_complaint};
use super::reply::{FixtureReply, FixtureRequest, event};
use super::{modern, request_faults};
use crate::exchange::{Emission, FixtureConversation, Outlet};
use crate::journal;
use crate::message::{INVALID_REQUEST, IncomingMessage, PARSE_ERROR, ReceivedMessage, RpcAnswer};
use crate::server::{self, Exchange};

pub(crate) async fn post(endpoint: &Arc<FixtureEndpoint>, asked: &FixtureRequest) -> FixtureReply {
    if let Some(complaint) = content_complaint(asked) {
        return complaint;
    }
    let Ok(value) = serde_json::from_slice::<Value>(&asked.body) else {
        return FixtureReply::refusal(
            400,
            &Value::Null,
            &RpcAnswer::refuse(PARSE_ERROR, "Parse error"),
        );
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
            let (outlet, emissions) = Outlet::new();
            let exchange = Exchange {
                server: Arc::clone(&endpoint.server),
                conversation: session.conversation,
                outlet,
            };
            tokio::spawn(async move { server::batch(&exchange, items).await });
            reply_from_emissions(endpoint, emissions, None).await
        }
        ReceivedMessage::Nonsense => {
            let refusal = RpcAnswer::refuse(INVALID_REQUEST, "Invalid request");
            FixtureReply::refusal(400, &Value::Null, &refusal)
        }
    }
}

/// The session a legacy request names; its refusals look like those of servers in the field.
pub(crate) fn session(
    endpoint: &FixtureEndpoint,
    asked: &FixtureRequest,
) -> Result<FixtureSession, FixtureReply> {
    let Some(id) = asked.header("mcp-session-id") else {
        let refusal = RpcAnswer::refuse(-32000, "Bad Request: Server not initialized");
        return Err(FixtureReply::refusal(400, &Value::Null, &refusal));
    };
    let Some(session) = endpoint.session(id) else {
        let refusal = RpcAnswer::refuse(-32001, "Session not found");
        return Err(FixtureReply::refusal(404, &Value::Null, &refusal));
    };
    let revision = session.conversation.revision().unwrap_or_default();
    let header = asked.header("mcp-protocol-version");
    if revision.as_str() >= "2025-06-18" && header.is_some_and(|header| header != revision) {
        let refusal = RpcAnswer::refuse(-32000, "Bad Request: Unsupported protocol version");
        return Err(FixtureReply::refusal(400, &Value::Null, &refusal));
    }
    Ok(session)
}

async fn run(
    endpoint: &Arc<FixtureEndpoint>,
    conversation: Arc<FixtureConversation>,
    incoming: IncomingMessage,
    modern: bool,
) -> FixtureReply {
    let (outlet, emissions) = Outlet::new();
    let exchange = Exchange { server: Arc::clone(&endpoint.server), conversation, outlet };
    let id = incoming.id().clone();
    let Some(accepted) = server::accept(&exchange, incoming) else {
        return FixtureReply::empty(202);
    };
    let departure =
        modern.then(|| CancelOnDeparture { exchange: Some(without_outlet(&exchange)), id });
    drop(exchange);
    tokio::spawn(accepted.work());
    reply_from_emissions(endpoint, emissions, departure).await
}

/// The same surroundings, but not another sender that would keep the stream open.
fn without_outlet(exchange: &Exchange) -> Exchange {
    Exchange { outlet: Outlet::new().0, ..exchange.clone() }
}

/// In the modern era a client cancels by leaving, so this cancels unless it was told to stay.
struct CancelOnDeparture {
    exchange: Option<Exchange>,
    id: Value,
}

impl CancelOnDeparture {
    fn stay(mut self) {
        self.exchange = None;
    }
}

impl Drop for CancelOnDeparture {
    fn drop(&mut self) {
        if let Some(exchange) = &self.exchange
            && exchange.conversation.cancel(&self.id)
        {
            exchange.server.journal.line(&format!("cancelled {}", journal::plain(&self.id)));
        }
    }
}

/// JSON when the answer is all there is, an event stream when something comes before it.
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

/// Runs the call, keeps its answer, and closes the stream right after an event with an id.
async fn replay(
    endpoint: &Arc<FixtureEndpoint>,
    session: &FixtureSession,
    incoming: IncomingMessage,
) -> FixtureReply {
    let (outlet, _emissions) = Outlet::new();
    let exchange = Exchange {
        server: Arc::clone(&endpoint.server),
        conversation: Arc::clone(&session.conversation),
        outlet,
    };
    let answer = server::answer(&exchange, &incoming).await.render(incoming.id());
    let event = format!("replay-{}", endpoint.number());
    endpoint.store_answer(event.clone(), answer);
    let (pieces, receiver) = mpsc::channel(1);
    let _ = pieces.send(Bytes::from(format!("id: {event}\nretry: 50\ndata:\n\n"))).await;
    FixtureReply::stream(receiver)
}
