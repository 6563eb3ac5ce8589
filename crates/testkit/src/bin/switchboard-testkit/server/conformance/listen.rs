//! `subscriptions/listen`: tells a modern client what changes, as far as it asked for that.

use serde_json::json;

use super::super::state::Exchange;
use super::changes::watch_changes;
use crate::message::{self, INVALID_PARAMS, IncomingMessage, META_SUBSCRIPTION, RpcAnswer};

/// Runs until the request is cancelled.
pub(super) async fn listen(exchange: &Exchange, incoming: &IncomingMessage) -> RpcAnswer {
    let Some(wanted) = incoming.params.get("notifications").filter(|wanted| wanted.is_object())
    else {
        return RpcAnswer::refuse(INVALID_PARAMS, "`notifications` is missing");
    };
    let mut granted = json!({});
    for name in ["toolsListChanged", "promptsListChanged", "resourceSubscriptions"] {
        if let Some(value) = wanted.get(name).filter(|value| **value != json!(false)) {
            granted[name] = value.clone();
        }
    }
    let meta = json!({META_SUBSCRIPTION: incoming.id()});
    let mut changes = exchange.server.changes();
    let mut news = watch_changes();
    let acknowledged = json!({"_meta": meta, "notifications": granted});
    let method = "notifications/subscriptions/acknowledged";
    exchange.outlet.notice(message::notice(method, &acknowledged)).await;
    loop {
        tokio::select! {
            Ok(()) = changes.recv() => if granted["toolsListChanged"] == true {
                let method = "notifications/tools/list_changed";
                exchange.outlet.notice(message::notice(method, &json!({"_meta": meta}))).await;
            },
            Ok(news) = news.recv() => if news.is_wanted(&granted) {
                exchange.outlet.notice(news.notice(Some(&meta))).await;
            },
            else => return RpcAnswer::Result(json!({"_meta": meta})),
        }
    }
}
