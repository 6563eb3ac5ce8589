//! JSON-RPC batches, which only revision 2025-03-26 has.

use serde_json::Value;

use super::{Exchange, accept};
use crate::emission::{Emission, Outlet};
use crate::message::{INVALID_REQUEST, ReceivedMessage, RpcAnswer};

/// Answers all messages of a batch in one array; false when there was nothing to answer.
pub(crate) async fn batch(exchange: &Exchange, items: Vec<Value>) -> bool {
    if exchange.conversation.revision().as_deref() != Some("2025-03-26") {
        let refusal = RpcAnswer::refuse(INVALID_REQUEST, "batches exist only in 2025-03-26");
        exchange.outlet.finish(refusal.render(&Value::Null), refusal.code()).await;
        return true;
    }
    let (outlet, mut emissions) = Outlet::new();
    let inner = Exchange { outlet, ..exchange.clone() };
    for item in items {
        match ReceivedMessage::read(item) {
            ReceivedMessage::Message(incoming) => {
                if let Some(accepted) = accept(&inner, incoming) {
                    tokio::spawn(accepted.work());
                }
            }
            ReceivedMessage::Reply(reply) => exchange.conversation.deliver_reply(reply),
            ReceivedMessage::Batch(_) | ReceivedMessage::Nonsense => {}
        }
    }
    drop(inner);
    let mut answers = Vec::new();
    while let Some(emission) = emissions.recv().await {
        match emission {
            Emission::Final(text, _) => answers.push(text),
            Emission::Notice(text) => exchange.outlet.notice(text).await,
            Emission::Wire(steps) => exchange.outlet.wire(steps).await,
        }
    }
    if answers.is_empty() {
        return false;
    }
    exchange.outlet.finish(format!("[{}]", answers.join(",")), None).await;
    true
}
