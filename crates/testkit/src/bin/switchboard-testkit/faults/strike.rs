//! Gives each request to the chosen fault before the server sees it.

use std::time::Duration;

use super::{Family, envelope, handshake, http_bytes, process, shape, text};
use crate::emission::Step;
use crate::message::Incoming;
use crate::server::Exchange;

/// Whether the fault wants a request, counted in the order in which requests come.
pub(crate) fn wants(exchange: &Exchange, incoming: &Incoming) -> bool {
    let Some(fault) = exchange.server.fault() else { return false };
    match fault.family {
        Family::Start | Family::Reading | Family::Framing | Family::Door => false,
        Family::Handshake => handshake::wants(exchange, fault, incoming),
        Family::Process | Family::Text | Family::Envelope | Family::Shape | Family::HttpBytes => {
            fault.name != "listen-closes" && fault.strikes(&incoming.method)
        }
    }
}

/// Says whether the fault took the request that it wants; then nobody else answers it.
pub(crate) async fn strike(exchange: &Exchange, incoming: &Incoming) -> bool {
    let Some(fault) = exchange.server.fault() else { return false };
    match fault.family {
        Family::Handshake => return handshake::strike(exchange, fault, incoming).await,
        Family::Text => text::strike(exchange, fault, incoming).await,
        Family::Envelope => envelope::strike(exchange, fault, incoming).await,
        Family::Shape => shape::strike(exchange, fault, incoming).await,
        Family::HttpBytes => http_bytes::strike(exchange, fault, incoming).await,
        _ => process::strike(exchange, fault, incoming).await,
    }
    true
}

/// What a fault does once a request was answered.
pub(crate) async fn after(exchange: &Exchange, incoming: &Incoming) {
    let Some(fault) = exchange.server.fault() else { return };
    let opening = matches!(incoming.method.as_str(), "initialize" | "server/discover");
    if fault.name == "crash-loop" && opening && fault.claim() {
        tokio::time::sleep(Duration::from_millis(100)).await;
        exchange.outlet.wire(vec![Step::Exit(fault.code)]).await;
    }
}
