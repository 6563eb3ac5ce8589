//! Processes one message: registers it, applies the fault, answers it, honours its cancellation.

use std::sync::Arc;

use serde_json::Value;
use tokio::sync::Notify;

use super::{Exchange, dispatch};
use crate::exchange::{Emission, Outlet};
use crate::message::{INVALID_REQUEST, IncomingMessage, ReceivedMessage, RpcAnswer};
use crate::{faults, journal};

/// A request that is registered as running but not processed yet.
#[derive(Debug)]
pub(crate) struct AcceptedRequest {
    exchange: Exchange,
    incoming: IncomingMessage,
    cancelled: Arc<Notify>,
    /// Whether the chosen fault takes it.
    wanted: bool,
}

/// Registers a request at once, so that a cancellation right behind it finds it.
///
/// Returns `None` for a notification, which is processed here.
pub(crate) fn accept(exchange: &Exchange, incoming: IncomingMessage) -> Option<AcceptedRequest> {
    let Some(id) = &incoming.id else {
        if incoming.method == "notifications/cancelled"
            && let Some(id) = incoming.params.get("requestId")
            && exchange.conversation.cancel(id)
        {
            exchange.server.journal.line(&format!("cancelled {}", journal::plain(id)));
        }
        return None;
    };
    let cancelled = exchange.conversation.begin(id);
    let wanted = faults::wants(exchange, &incoming);
    Some(AcceptedRequest { exchange: exchange.clone(), incoming, cancelled, wanted })
}

impl AcceptedRequest {
    pub(crate) fn method(&self) -> &str {
        &self.incoming.method
    }

    pub(crate) async fn work(self) {
        let Self { exchange, incoming, cancelled, wanted } = self;
        // A fault ignores cancellation, so that a late answer is still sent.
        if !(wanted && faults::strike(&exchange, &incoming).await) {
            let answer = tokio::select! {
                answer = dispatch::answer(&exchange, &incoming) => Some(answer),
                () = cancelled.notified() => None,
            };
            if let Some(answer) = answer {
                exchange.outlet.finish(answer.render(incoming.id()), answer.code()).await;
            }
        }
        exchange.conversation.end(incoming.id());
        faults::after(&exchange, &incoming).await;
    }
}

/// Answers all messages of a batch in one array; false if there was nothing to answer.
pub(crate) async fn batch(exchange: &Exchange, items: Vec<Value>) -> bool {
    if exchange.conversation.revision().as_deref() != Some("2025-03-26") {
        let refusal = RpcAnswer::refuse(INVALID_REQUEST, "batches exist only in 2025-03-26");
        exchange.outlet.finish(refusal.render(&Value::Null), refusal.code()).await;
        return true;
    }
    let (outlet, mut emissions) = Outlet::new();
    let inner = Exchange { outlet, ..exchange.clone() };
    for item in items {
        match ReceivedMessage::read(item) {
            ReceivedMessage::Message(incoming) => {
                if let Some(accepted) = accept(&inner, incoming) {
                    tokio::spawn(accepted.work());
                }
            }
            ReceivedMessage::Reply(reply) => exchange.conversation.deliver_reply(reply),
            ReceivedMessage::Batch(_) | ReceivedMessage::Nonsense => {}
        }
    }
    // The channel closes once the last request has dropped its copy of the outlet.
    drop(inner);
    let mut answers = Vec::new();
    while let Some(emission) = emissions.recv().await {
        match emission {
            Emission::Final(text, _) => answers.push(text),
            Emission::Notice(text) => exchange.outlet.notice(text).await,
            Emission::Wire(steps) => exchange.outlet.wire(steps).await,
        }
    }
    if answers.is_empty() {
        return false;
    }
    exchange.outlet.finish(format!("[{}]", answers.join(",")), None).await;
    true
}
