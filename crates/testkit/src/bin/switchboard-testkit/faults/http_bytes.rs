//! Faults in the bytes of an HTTP response to a call that was received in full.

use std::time::Duration;

use super::Fault;
use crate::exchange::WireStep;
use crate::message::IncomingMessage;
use crate::server::{Exchange, answer};

const JSON: &str = "content-type: application/json\r\n";
const STREAM: &str = "content-type: text/event-stream\r\ntransfer-encoding: chunked\r\n";

pub(crate) async fn strike(exchange: &Exchange, fault: &Fault, incoming: &IncomingMessage) {
    // A status below 500 means that nothing ran; all other faults here follow the side effect.
    let refused = fault.name == "status" && fault.options.status.is_some_and(|status| status < 500);
    let text = if refused {
        String::new()
    } else {
        answer(exchange, incoming).await.render(incoming.id())
    };
    exchange.outlet.wire(steps(fault, &text)).await;
}

fn steps(fault: &Fault, text: &str) -> Vec<WireStep> {
    let length = text.len();
    let event = format!("event: message\ndata: {text}\n\n");
    let half = event.get(..event.len() / 2).unwrap_or("event: message\ndata: {\"jsonrpc\"");
    match fault.name.as_str() {
        "status" => vec![WireStep::Write(status(fault))],
        "html" => {
            let page = "<!doctype html><title>Sign in</title><p>Sign in to use this network.";
            vec![head(200, "content-type: text/html\r\n", Some(page.len())), body(page)]
        }
        "empty" => vec![head(200, JSON, Some(0))],
        "204" => vec![head(204, "", None)],
        "reset-before-headers" => vec![WireStep::Reset],
        "close-before-headers" => vec![WireStep::Close],
        "sse-cut" => vec![head(200, STREAM, None), WireStep::Write(chunk(half)), WireStep::Close],
        "sse-cut-between" => {
            let comment = ": nothing yet\n\n";
            vec![head(200, STREAM, None), WireStep::Write(chunk(comment)), WireStep::Close]
        }
        "sse-stall" => {
            vec![
                head(200, STREAM, None),
                WireStep::Repeat(chunk(": still here\n\n"), fault.pause(200)),
            ]
        }
        "sse-silence" => {
            vec![head(200, STREAM, None), WireStep::Repeat(Vec::new(), Duration::from_secs(3_600))]
        }
        "endless-body" => {
            let headers = format!("{JSON}transfer-encoding: chunked\r\n");
            let start = chunk("{\"jsonrpc\":\"2.0\",");
            let rest = chunk(&" ".repeat(16 * 1024));
            vec![
                head(200, &headers, None),
                WireStep::Write(start),
                WireStep::Repeat(rest, fault.pause(10)),
            ]
        }
        "short-body" => vec![head(200, JSON, Some(length + 100)), body(text), WireStep::Close],
        "long-body" => vec![head(200, JSON, Some(length / 2)), body(text), WireStep::Close],
        other => panic!("the fault `{other}` is not one of HTTP bytes"),
    }
}

fn status(fault: &Fault) -> Vec<u8> {
    let status =
        fault.options.status.unwrap_or_else(|| panic!("the fault `status` needs `--status`"));
    let retry = fault.options.retry_after.as_ref();
    let retry = retry.map(|value| format!("retry-after: {value}\r\n")).unwrap_or_default();
    let text = format!("status {status}\n");
    let headers = format!("{retry}content-type: text/plain\r\ncontent-length: {}\r\n", text.len());
    format!("HTTP/1.1 {status} Fault\r\n{headers}\r\n{text}").into_bytes()
}

fn head(status: u16, headers: &str, length: Option<usize>) -> WireStep {
    let length = length.map(|length| format!("content-length: {length}\r\n")).unwrap_or_default();
    WireStep::Write(format!("HTTP/1.1 {status} Fault\r\n{headers}{length}\r\n").into_bytes())
}

fn body(text: &str) -> WireStep {
    WireStep::Write(text.as_bytes().to_vec())
}

fn chunk(text: &str) -> Vec<u8> {
    format!("{:x}\r\n{text}\r\n", text.len()).into_bytes()
}
