//! Passes each request to the chosen fault before the server; faults of processes and handshakes.

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::{Fault, FaultFamily, http_bytes, message as message_faults, text};
use crate::exchange::WireStep;
use crate::message::{IncomingMessage, METHOD_NOT_FOUND, RpcAnswer};
use crate::server::{Exchange, FixtureServer, answer};
use crate::system;

/// Whether the fault takes a request. Requests are counted in the order of arrival.
pub(crate) fn wants(exchange: &Exchange, incoming: &IncomingMessage) -> bool {
    let Some(fault) = exchange.server.fault() else { return false };
    match fault.family {
        FaultFamily::Start | FaultFamily::Reading | FaultFamily::Framing | FaultFamily::Door => {
            false
        }
        FaultFamily::Handshake => is_about(exchange, fault, incoming),
        FaultFamily::Process
        | FaultFamily::Text
        | FaultFamily::Envelope
        | FaultFamily::Shape
        | FaultFamily::HttpBytes => {
            fault.name != "listen-closes" && fault.strikes(&incoming.method)
        }
    }
}

/// Lets the fault handle a request. Returns whether it did; the server then does not answer it.
pub(crate) async fn strike(exchange: &Exchange, incoming: &IncomingMessage) -> bool {
    let Some(fault) = exchange.server.fault() else { return false };
    match fault.family {
        FaultFamily::Handshake => return strike_handshake(exchange, fault, incoming).await,
        FaultFamily::Text => text::strike(exchange, fault, incoming).await,
        FaultFamily::Envelope => message_faults::strike_envelope(exchange, fault, incoming).await,
        FaultFamily::Shape => message_faults::strike_shape(exchange, fault, incoming).await,
        FaultFamily::HttpBytes => http_bytes::strike(exchange, fault, incoming).await,
        _ => strike_process(exchange, fault, incoming).await,
    }
    true
}

/// Runs the fault's action after the answer to a request.
pub(crate) async fn after(exchange: &Exchange, incoming: &IncomingMessage) {
    let Some(fault) = exchange.server.fault() else { return };
    let opening = matches!(incoming.method.as_str(), "initialize" | "server/discover");
    if fault.name == "crash-loop" && opening && fault.claim() {
        tokio::time::sleep(Duration::from_millis(100)).await;
        exchange.outlet.wire(vec![WireStep::Exit(fault.options.code)]).await;
    }
}

#[expect(clippy::exit, clippy::print_stderr, reason = "ending early with a word is the fault")]
pub(crate) async fn at_start(server: &Arc<FixtureServer>) {
    let Some(fault) = server.fault() else { return };
    if fault.family != FaultFamily::Start || !fault.claim() {
        return;
    }
    match fault.name.as_str() {
        "exit-at-start" => {
            eprintln!("boom");
            std::process::exit(fault.options.code);
        }
        "abort-at-start" => {
            eprintln!("boom");
            std::process::abort();
        }
        "slow-start" => tokio::time::sleep(fault.pause(25_000)).await,
        "ignore-term" => system::ignore_requests_to_end(),
        "grandchild" => grandchild(server, system::worker()),
        "grandchild-setsid" => grandchild(server, system::leaving_worker()),
        other => panic!("the fault `{other}` does nothing at the start"),
    }
}

/// Starts a process that keeps standard output and error open, as orphaned workers do.
fn grandchild(server: &Arc<FixtureServer>, mut worker: Command) {
    let started = worker.stdin(Stdio::null()).spawn();
    let mut child = started.unwrap_or_else(|cause| panic!("{worker:?}: {cause}"));
    server.journal.line(&format!("grandchild {}", child.id()));
    std::thread::spawn(move || child.wait());
}

pub(crate) fn ignores_end_of_input(server: &FixtureServer) -> bool {
    server.fault().is_some_and(|fault| fault.name == "ignore-term")
}

/// Methods that a minimal legacy server knows.
const KNOWN_METHODS: &[&str] = &["initialize", "ping", "tools/list", "tools/call"];

/// Whether a handshake fault concerns a request. Decided on arrival: a handshake sent after the
/// request may be over before the request is handled.
pub(crate) fn is_about(exchange: &Exchange, fault: &Fault, incoming: &IncomingMessage) -> bool {
    let method = incoming.method.as_str();
    match fault.name.as_str() {
        "crash-loop" => false,
        "silent-start" => true,
        "probe-silent" => !KNOWN_METHODS.contains(&method),
        _ => method == "server/discover" && exchange.conversation.revision().is_none(),
    }
}

pub(crate) async fn strike_handshake(
    exchange: &Exchange,
    fault: &Fault,
    incoming: &IncomingMessage,
) -> bool {
    if !fault.claim() {
        return false;
    }
    match fault.name.as_str() {
        "silent-start" | "probe-silent" => true,
        "probe-exit" => {
            exchange.outlet.wire(vec![WireStep::Exit(fault.options.code)]).await;
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

pub(crate) async fn strike_process(exchange: &Exchange, fault: &Fault, incoming: &IncomingMessage) {
    match fault.name.as_str() {
        "crash-after-read" => exchange.outlet.wire(vec![WireStep::Exit(fault.options.code)]).await,
        "crash-after-effect" => {
            answer(exchange, incoming).await;
            let tool = incoming.text("name").unwrap_or(&incoming.method);
            if tool != "write" {
                exchange.server.journal.line(&format!("effect {tool}"));
            }
            exchange.outlet.wire(vec![WireStep::Exit(fault.options.code)]).await;
        }
        "hang" => exchange.outlet.wait_closed().await,
        "late" => {
            let answer = answer(exchange, incoming).await;
            tokio::time::sleep(fault.pause(1_000)).await;
            exchange.outlet.finish(answer.render(incoming.id()), answer.code()).await;
        }
        "progress-forever" => progress(exchange, fault.pause(100), incoming).await,
        "closed-stdout" => exchange.outlet.wire(vec![WireStep::Close]).await,
        other => panic!("the fault `{other}` is not one of a process"),
    }
}

async fn progress(exchange: &Exchange, pause: Duration, incoming: &IncomingMessage) {
    let token = incoming.meta("progressToken").unwrap_or(&Value::Null);
    let tell = async {
        for step in 1_u64.. {
            let progress = json!({"progressToken": token, "progress": step});
            exchange.notify("notifications/progress", &progress).await;
            tokio::time::sleep(pause).await;
        }
    };
    tokio::select! {
        () = tell => {}
        () = exchange.outlet.wait_closed() => {}
    }
}
