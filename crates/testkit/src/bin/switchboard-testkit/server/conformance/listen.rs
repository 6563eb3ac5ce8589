//! `subscriptions/listen`: tells a modern client what changes, as far as it asked for that.

use serde_json::json;

use super::super::state::Exchange;
use super::news::news;
use crate::message::{self, Answer, INVALID_PARAMS, Incoming, META_SUBSCRIPTION};

/// Runs until the request is cancelled.
pub(super) async fn listen(exchange: &Exchange, incoming: &Incoming) -> Answer {
    let Some(wanted) = incoming.params.get("notifications").filter(|wanted| wanted.is_object())
    else {
        return Answer::refuse(INVALID_PARAMS, "`notifications` is missing");
    };
    let mut granted = json!({});
    for name in ["toolsListChanged", "promptsListChanged", "resourceSubscriptions"] {
        if let Some(value) = wanted.get(name).filter(|value| **value != json!(false)) {
            granted[name] = value.clone();
        }
    }
    let meta = json!({META_SUBSCRIPTION: incoming.id()});
    let (mut changes, mut news) = (exchange.server.changes(), news());
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
            else => return Answer::Result(json!({"_meta": meta})),
        }
    }
}
