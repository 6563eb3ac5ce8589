//! Serves one client over standard input and output until the input ends.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::{read, write};
use crate::conversation::FixtureConversation;
use crate::emission::Outlet;
use crate::faults;
use crate::message::{self, INVALID_REQUEST, PARSE_ERROR, ReceivedMessage, RpcAnswer};
use crate::server::{self, Exchange, FixtureServer};

/// How long calls may still run once the client has closed its end.
const GRACE: Duration = Duration::from_millis(200);

pub(crate) async fn serve(server: Arc<FixtureServer>) {
    let (outlet, emissions) = Outlet::new();
    let writer = write::start(Arc::clone(&server), emissions);
    let conversation = Arc::new(FixtureConversation::default());
    let exchange = Exchange { server: Arc::clone(&server), conversation, outlet };
    let changes = tokio::spawn(tell_changes(exchange.clone()));
    let mut lines = read::start(Arc::clone(&server));
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

/// A writer that is stuck in a full pipe must not keep the process.
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
            // What follows `initialize` may rely on its effect, everything else runs side by side.
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

/// Only legacy clients are told without having asked.
async fn tell_changes(exchange: Exchange) {
    let mut changes = exchange.server.changes();
    let mut news = server::watch_changes();
    loop {
        let notice = tokio::select! {
            Ok(()) = changes.recv() => {
                message::notice("notifications/tools/list_changed", &json!({}))
            }
            Ok(news) = news.recv() => match news.is_for(&exchange.conversation) {
                true => news.notice(None),
                false => continue,
            },
            else => return,
        };
        if exchange.conversation.revision().is_some() {
            exchange.outlet.notice(notice).await;
        }
    }
}
