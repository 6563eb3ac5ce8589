//! Faults that strike while the client finds out which era a server speaks.

use super::Fault;
use crate::emission::WireStep;
use crate::message::{IncomingMessage, METHOD_NOT_FOUND, RpcAnswer};
use crate::server::Exchange;

/// Methods that a legacy server without imagination knows.
const KNOWN_METHODS: &[&str] = &["initialize", "ping", "tools/list", "tools/call"];

/// Whether the fault is about a request. Asked as it comes: the handshake behind it may be over
/// before the request is worked on.
pub(super) fn wants(exchange: &Exchange, fault: &Fault, incoming: &IncomingMessage) -> bool {
    let method = incoming.method.as_str();
    match fault.name {
        "crash-loop" => false,
        "silent-start" => true,
        "probe-silent" => !KNOWN_METHODS.contains(&method),
        _ => method == "server/discover" && exchange.conversation.revision().is_none(),
    }
}

pub(super) async fn strike(exchange: &Exchange, fault: &Fault, incoming: &IncomingMessage) -> bool {
    if !fault.claim() {
        return false;
    }
    match fault.name {
        "silent-start" | "probe-silent" => true,
        "probe-exit" => {
            exchange.outlet.wire(vec![WireStep::Exit(fault.code)]).await;
            true
        }
        "probe-nonsense" => {
            let garbage = b"Error: Received request before initialization was complete\n";
            let odd = RpcAnswer::refuse(7, "what?").render(incoming.id());
            let line = format!("{odd}\n").into_bytes();
            exchange
                .outlet
                .wire(vec![WireStep::Write(garbage.to_vec()), WireStep::Write(line)])
                .await;
            true
        }
        "late-probe" => {
            tokio::time::sleep(fault.pause(3_000)).await;
            let refusal = RpcAnswer::refuse(METHOD_NOT_FOUND, "Method not found");
            exchange.outlet.finish(refusal.render(incoming.id()), refusal.code()).await;
            true
        }
        other => panic!("the fault `{other}` does nothing in a handshake"),
    }
}
