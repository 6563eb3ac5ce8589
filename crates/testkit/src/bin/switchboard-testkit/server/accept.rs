//! Takes one message: notes it, lets a fault have it, answers it, and honours its cancellation.

use std::sync::Arc;

use tokio::sync::Notify;

use super::{Exchange, dispatch};
use crate::faults;
use crate::journal;
use crate::message::IncomingMessage;

/// A request that is noted as running and still has to be worked on.
#[derive(Debug)]
pub(crate) struct AcceptedRequest {
    exchange: Exchange,
    incoming: IncomingMessage,
    cancelled: Arc<Notify>,
    /// Whether the chosen fault wants it.
    wanted: bool,
}

/// Notes the message at once, so that a cancellation right behind it finds its request.
///
/// A notification is dealt with here and leaves nothing to do.
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
        // What a fault has taken does not listen to cancellation: late answers are late anyway.
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
