//! Faults of a process that has taken a request and does not answer it properly.

use std::time::Duration;

use serde_json::{Value, json};

use super::Fault;
use crate::emission::WireStep;
use crate::message::{self, IncomingMessage};
use crate::server::{Exchange, answer};

pub(crate) async fn strike(exchange: &Exchange, fault: &Fault, incoming: &IncomingMessage) {
    match fault.name {
        "crash-after-read" => exchange.outlet.wire(vec![WireStep::Exit(fault.code)]).await,
        "crash-after-effect" => {
            answer(exchange, incoming).await;
            let tool = incoming.text("name").unwrap_or(&incoming.method);
            if tool != "write" {
                exchange.server.journal.line(&format!("effect {tool}"));
            }
            exchange.outlet.wire(vec![WireStep::Exit(fault.code)]).await;
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
            exchange.outlet.notice(message::notice("notifications/progress", &progress)).await;
            tokio::time::sleep(pause).await;
        }
    };
    tokio::select! {
        () = tell => {}
        () = exchange.outlet.wait_closed() => {}
    }
}
