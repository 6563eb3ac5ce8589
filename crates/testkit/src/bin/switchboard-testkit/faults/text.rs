//! Faults in the lines on standard output.

use std::time::Duration;

use serde_json::{Value, json};

use super::Fault;
use crate::exchange::WireStep;
use crate::message::{self, IncomingMessage, RpcAnswer};
use crate::server::{Exchange, answer};

const LONG_LINE: usize = 9 * 1024 * 1024;

pub(crate) async fn strike(exchange: &Exchange, fault: &Fault, incoming: &IncomingMessage) {
    let answer = answer(exchange, incoming).await;
    exchange.outlet.wire(steps(fault, &answer, incoming.id())).await;
}

fn steps(fault: &Fault, answer: &RpcAnswer, id: &Value) -> Vec<WireStep> {
    let text = answer.render(id);
    let line = format!("{text}\n").into_bytes();
    let (first, second) = line.split_at(line.len() / 2);
    match fault.name.as_str() {
        "half-line" => vec![WireStep::Write(first.to_vec()), WireStep::Exit(fault.options.code)],
        "no-newline" => {
            vec![WireStep::Write(text.into_bytes()), WireStep::Exit(fault.options.code)]
        }
        "split" => vec![WireStep::Trickle(line)],
        "half-pause" => vec![
            WireStep::Write(first.to_vec()),
            WireStep::Pause(fault.pause(30_000)),
            WireStep::Write(second.to_vec()),
        ],
        "many-in-one-write" => {
            let notice = |number: u32| {
                let params = json!({"level": "info", "data": format!("message {number}")});
                message::notice("notifications/message", &params)
            };
            let lines = [notice(1), notice(2), text, notice(3)];
            vec![WireStep::Write(format!("{}\n", lines.join("\n")).into_bytes())]
        }
        "pretty" => {
            let value: Value = serde_json::from_str(&text).expect("answers are JSON");
            vec![WireStep::Write(format!("{value:#}\n").into_bytes())]
        }
        "long-line" => {
            let bytes = fault.options.bytes.unwrap_or(LONG_LINE);
            let long = json!({"content": [{"type": "text", "text": "x".repeat(bytes)}]});
            vec![WireStep::Write(format!("{}\n", RpcAnswer::Result(long).render(id)).into_bytes())]
        }
        "noise-flood" => vec![flood()],
        other => panic!("the fault `{other}` is not one of text"),
    }
}

pub(crate) fn flood() -> WireStep {
    let lines = "[debug] cache miss, fetching again\n".repeat(100);
    WireStep::Repeat(lines.into_bytes(), Duration::ZERO)
}

/// Returns the output before the first request.
pub(crate) fn greeting(fault: &Fault) -> Vec<WireStep> {
    match fault.name.as_str() {
        "noise" => {
            vec![WireStep::Write(b"Welcome to the server!\nlistening on stdio...\n".to_vec())]
        }
        "binary-noise" => vec![WireStep::Write(binary())],
        "crlf-bom-blank" => vec![WireStep::Write(b"\xef\xbb\xbf".to_vec())],
        "noise-flood" if fault.is_there_from_the_start() => vec![flood()],
        "closed-stdout" if fault.is_there_from_the_start() => {
            vec![WireStep::Close, WireStep::Pause(Duration::ZERO)]
        }
        _ => Vec::new(),
    }
}

/// Encodes a message as bytes for standard output.
pub(crate) fn encode(fault: Option<&Fault>, message: &str) -> Vec<u8> {
    match fault.map(|fault| fault.name.as_str()) {
        Some("noise") => {
            let noise = "[info] handled a message\n{\"level\":30,\"msg\":\"not for you\"}\n42\n";
            format!("{noise}{message}\n").into_bytes()
        }
        Some("binary-noise") => [&binary(), message.as_bytes(), b"\n"].concat(),
        Some("crlf-bom-blank") => format!("\r\n\n{message}\r\n\r\n").into_bytes(),
        _ => format!("{message}\n").into_bytes(),
    }
}

/// Returns a line that is not UTF-8, with NUL bytes and escape sequences.
fn binary() -> Vec<u8> {
    b"\x00\x01\xff\xfe\xc3\x28\x1b[31m\x00{\"jsonrpc\":\"2.0\",\xf0\x28\x8c\x28}\n".to_vec()
}
