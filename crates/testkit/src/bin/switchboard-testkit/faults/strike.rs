//! Gives each request to the chosen fault before the server sees it.

use std::time::Duration;

use super::{FaultFamily, envelope, handshake, http_bytes, process, shape, text};
use crate::emission::WireStep;
use crate::message::IncomingMessage;
use crate::server::Exchange;

/// Whether the fault wants a request, counted in the order in which requests come.
pub(crate) fn wants(exchange: &Exchange, incoming: &IncomingMessage) -> bool {
    let Some(fault) = exchange.server.fault() else { return false };
    match fault.family {
        FaultFamily::Start | FaultFamily::Reading | FaultFamily::Framing | FaultFamily::Door => {
            false
        }
        FaultFamily::Handshake => handshake::wants(exchange, fault, incoming),
        FaultFamily::Process
        | FaultFamily::Text
        | FaultFamily::Envelope
        | FaultFamily::Shape
        | FaultFamily::HttpBytes => {
            fault.name != "listen-closes" && fault.strikes(&incoming.method)
        }
    }
}

/// Says whether the fault took the request that it wants; then nobody else answers it.
pub(crate) async fn strike(exchange: &Exchange, incoming: &IncomingMessage) -> bool {
    let Some(fault) = exchange.server.fault() else { return false };
    match fault.family {
        FaultFamily::Handshake => return handshake::strike(exchange, fault, incoming).await,
        FaultFamily::Text => text::strike(exchange, fault, incoming).await,
        FaultFamily::Envelope => envelope::strike(exchange, fault, incoming).await,
        FaultFamily::Shape => shape::strike(exchange, fault, incoming).await,
        FaultFamily::HttpBytes => http_bytes::strike(exchange, fault, incoming).await,
        _ => process::strike(exchange, fault, incoming).await,
    }
    true
}

/// What a fault does once a request was answered.
pub(crate) async fn after(exchange: &Exchange, incoming: &IncomingMessage) {
    let Some(fault) = exchange.server.fault() else { return };
    let opening = matches!(incoming.method.as_str(), "initialize" | "server/discover");
    if fault.name == "crash-loop" && opening && fault.claim() {
        tokio::time::sleep(Duration::from_millis(100)).await;
        exchange.outlet.wire(vec![WireStep::Exit(fault.code)]).await;
    }
}
