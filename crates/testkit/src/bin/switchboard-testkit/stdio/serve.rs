//! Serves one client over standard input and output until the input ends.

use std::io::{self, BufRead, Write};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::peek::{Peek, PeekedLine};
use crate::exchange::{Emission, FixtureConversation, Outlet, WireStep};
use crate::faults::{Fault, FaultFamily};
use crate::message::{INVALID_REQUEST, PARSE_ERROR, ReceivedMessage, RpcAnswer};
use crate::server::{self, Exchange, FixtureServer};
use crate::{faults, system};

/// How long calls may run after the client has closed its end.
const GRACE: Duration = Duration::from_millis(200);

pub(crate) async fn serve(server: Arc<FixtureServer>) {
    let (outlet, emissions) = Outlet::new();
    let writer = start_writer(Arc::clone(&server), emissions);
    let conversation = Arc::new(FixtureConversation::default());
    let exchange = Exchange { server: Arc::clone(&server), conversation, outlet };
    let changes = tokio::spawn(tell_changes(exchange.clone()));
    let mut lines = start_reader(Arc::clone(&server));
    let mut tasks = JoinSet::new();
    while let Some(line) = lines.recv().await {
        while tasks.try_join_next().is_some() {}
        receive(&exchange, &line, &mut tasks).await;
    }
    if faults::ignores_end_of_input(&server) {
        std::future::pending::<()>().await;
    }
    let _ = tokio::time::timeout(GRACE, async { while tasks.join_next().await.is_some() {} }).await;
    tasks.shutdown().await;
    changes.abort();
    let _ = changes.await;
    drop(exchange);
    let flushed = tokio::task::spawn_blocking(move || writer.join());
    let _ = tokio::time::timeout(GRACE, flushed).await;
    finish();
}

/// Exits the process, even if the writer is blocked on a full pipe.
#[expect(clippy::exit, reason = "threads that are stuck in a fault cannot be joined")]
fn finish() {
    std::process::exit(0);
}

async fn receive(exchange: &Exchange, line: &[u8], tasks: &mut JoinSet<()>) {
    if line.trim_ascii().is_empty() {
        return;
    }
    let text = String::from_utf8_lossy(line);
    exchange.server.trace.line(&json!({"transport": "stdio", "body": text.trim_end()}).to_string());
    let Ok(value) = serde_json::from_slice::<Value>(line) else {
        return refuse(exchange, PARSE_ERROR, "Parse error").await;
    };
    match ReceivedMessage::read(value) {
        ReceivedMessage::Message(incoming) => {
            let Some(accepted) = server::accept(exchange, incoming) else { return };
            // Later messages may rely on `initialize`, so it runs alone; others run concurrently.
            if accepted.method() == "initialize" {
                accepted.work().await;
            } else {
                tasks.spawn(accepted.work());
            }
        }
        ReceivedMessage::Reply(reply) => exchange.conversation.deliver_reply(reply),
        ReceivedMessage::Batch(items) => {
            let exchange = exchange.clone();
            tasks.spawn(async move {
                server::batch(&exchange, items).await;
            });
        }
        ReceivedMessage::Nonsense => refuse(exchange, INVALID_REQUEST, "Invalid request").await,
    }
}

async fn refuse(exchange: &Exchange, code: i64, message: &str) {
    let refusal = RpcAnswer::refuse(code, message);
    exchange.outlet.finish(refusal.render(&Value::Null), refusal.code()).await;
}

/// Sends notifications of changes. Only legacy clients get them without a subscription.
async fn tell_changes(exchange: Exchange) {
    let mut changes = exchange.server.changes();
    while let Ok(change) = changes.recv().await {
        let client = &exchange.conversation;
        if client.revision().is_some() && change.is_for(client) {
            exchange.outlet.notice(change.notice(None)).await;
        }
    }
}

/// Starts the thread that reads lines; the channel closes at the end of input.
pub(crate) fn start_reader(server: Arc<FixtureServer>) -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel(64);
    std::thread::spawn(move || {
        let reading = server.fault().filter(|fault| fault.family == FaultFamily::Reading);
        match reading {
            Some(fault) => read_carefully(fault, &sender),
            None => read_all(&sender),
        }
    });
    receiver
}

fn read_all(sender: &mpsc::Sender<Vec<u8>>) {
    let mut input = io::stdin().lock();
    loop {
        let mut line = Vec::new();
        match input.read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) if sender.blocking_send(line).is_err() => return,
            Ok(_) => {}
        }
    }
}

/// Peeks at each line before consuming it, and leaves the call that the fault strikes unread.
#[expect(clippy::exit, reason = "ending before the call is read is the fault")]
fn read_carefully(fault: &Fault, sender: &mpsc::Sender<Vec<u8>>) {
    let mut peek = Peek::new();
    let mut stopped = false;
    let mut look = true;
    while !stopped {
        match peek.next(look) {
            PeekedLine::Line(line) => {
                let text = String::from_utf8_lossy(&line);
                let opened = ["notifications/initialized", "server/discover"]
                    .iter()
                    .any(|method| text.contains(method));
                stopped = opened && fault.is_there_from_the_start();
                look = true;
                if sender.blocking_send(line).is_err() {
                    return;
                }
            }
            PeekedLine::Call => {
                stopped = fault.strikes("tools/call");
                look = false;
            }
            PeekedLine::End => return,
        }
    }
    if fault.name == "crash-before-read" {
        std::process::exit(fault.options.code);
    }
    loop {
        // Returning would drop the sender, which counts as the end of input.
        std::thread::park();
    }
}

pub(crate) fn start_writer(
    server: Arc<FixtureServer>,
    mut emissions: mpsc::Receiver<Emission>,
) -> JoinHandle<()> {
    std::thread::spawn(move || {
        let fault = server.fault();
        let mut greeting = fault.map(faults::greeting).unwrap_or_default();
        loop {
            for step in greeting.drain(..) {
                // The client no longer reads: the process keeps running without a writer.
                if take(step).is_err() {
                    return;
                }
            }
            match emissions.blocking_recv() {
                Some(Emission::Notice(text) | Emission::Final(text, _)) => {
                    greeting.push(WireStep::Write(faults::encode(fault, &text)));
                }
                Some(Emission::Wire(steps)) => greeting.extend(steps),
                None => return,
            }
        }
    })
}

#[expect(clippy::exit, reason = "a fault that ends the process does so once its bytes are out")]
fn take(step: WireStep) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    match step {
        WireStep::Write(bytes) => {
            stdout.write_all(&bytes)?;
            stdout.flush()
        }
        WireStep::Trickle(bytes) => bytes.chunks(1).try_for_each(|byte| {
            stdout.write_all(byte)?;
            stdout.flush()
        }),
        WireStep::Pause(pause) => {
            std::thread::sleep(pause);
            Ok(())
        }
        WireStep::Repeat(bytes, pause) => loop {
            stdout.write_all(&bytes)?;
            stdout.flush()?;
            std::thread::sleep(pause);
        },
        WireStep::Exit(code) => std::process::exit(code),
        WireStep::Close | WireStep::Reset => system::close_standard_output(),
    }
}
