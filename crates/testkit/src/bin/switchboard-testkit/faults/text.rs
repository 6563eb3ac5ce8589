//! Faults in how the line with an answer gets onto standard output.

use std::time::Duration;

use serde_json::{Value, json};

use super::Fault;
use crate::emission::WireStep;
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
    match fault.name {
        "half-line" => vec![WireStep::Write(first.to_vec()), WireStep::Exit(fault.code)],
        "no-newline" => vec![WireStep::Write(text.into_bytes()), WireStep::Exit(fault.code)],
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
            let bytes = fault.bytes.unwrap_or(LONG_LINE);
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
