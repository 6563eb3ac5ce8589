//! Faults in how the line with an answer gets onto standard output.

use std::time::Duration;

use serde_json::{Value, json};

use super::Fault;
use crate::emission::Step;
use crate::message::{self, Answer, Incoming};
use crate::server::{Exchange, answer};

const LONG_LINE: usize = 9 * 1024 * 1024;

pub(crate) async fn strike(exchange: &Exchange, fault: &Fault, incoming: &Incoming) {
    let answer = answer(exchange, incoming).await;
    exchange.outlet.wire(steps(fault, &answer, incoming.id())).await;
}

fn steps(fault: &Fault, answer: &Answer, id: &Value) -> Vec<Step> {
    let text = answer.render(id);
    let line = format!("{text}\n").into_bytes();
    let (first, second) = line.split_at(line.len() / 2);
    match fault.name {
        "half-line" => vec![Step::Write(first.to_vec()), Step::Exit(fault.code)],
        "no-newline" => vec![Step::Write(text.into_bytes()), Step::Exit(fault.code)],
        "split" => vec![Step::Trickle(line)],
        "half-pause" => vec![
            Step::Write(first.to_vec()),
            Step::Pause(fault.pause(30_000)),
            Step::Write(second.to_vec()),
        ],
        "many-in-one-write" => {
            let notice = |number: u32| {
                let params = json!({"level": "info", "data": format!("message {number}")});
                message::notice("notifications/message", &params)
            };
            let lines = [notice(1), notice(2), text, notice(3)];
            vec![Step::Write(format!("{}\n", lines.join("\n")).into_bytes())]
        }
        "pretty" => {
            let value: Value = serde_json::from_str(&text).expect("answers are JSON");
            vec![Step::Write(format!("{value:#}\n").into_bytes())]
        }
        "long-line" => {
            let bytes = fault.bytes.unwrap_or(LONG_LINE);
            let long = json!({"content": [{"type": "text", "text": "x".repeat(bytes)}]});
            vec![Step::Write(format!("{}\n", Answer::Result(long).render(id)).into_bytes())]
        }
        "noise-flood" => vec![flood()],
        other => panic!("the fault `{other}` is not one of text"),
    }
}

pub(crate) fn flood() -> Step {
    let lines = "[debug] cache miss, fetching again\n".repeat(100);
    Step::Repeat(lines.into_bytes(), Duration::ZERO)
}
