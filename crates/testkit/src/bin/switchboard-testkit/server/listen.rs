//! `subscriptions/listen`: tells a modern client when the list of tools changes.

use serde_json::{Value, json};

use super::Exchange;
use crate::message::{self, Answer, INVALID_PARAMS, Incoming, META_SUBSCRIPTION};

/// Runs until the request is cancelled, or as long as a fault lets it.
pub(crate) async fn listen(exchange: &Exchange, incoming: &Incoming) -> Answer {
    let Some(wanted) = incoming.params.get("notifications").filter(|wanted| wanted.is_object())
    else {
        return Answer::refuse(INVALID_PARAMS, "`notifications` is missing");
    };
    let tools = wanted.get("toolsListChanged") == Some(&json!(true));
    let granted = if tools { json!({"toolsListChanged": true}) } else { json!({}) };
    let meta = json!({META_SUBSCRIPTION: incoming.id()});
    let mut changes = exchange.server.changes();
    let acknowledged = json!({"_meta": meta, "notifications": granted});
    let acknowledged = message::notice("notifications/subscriptions/acknowledged", &acknowledged);
    exchange.outlet.notice(acknowledged).await;
    let tell = async {
        while changes.recv().await.is_ok() {
            if tools {
                exchange.outlet.notice(changed(&json!({"_meta": meta}))).await;
            }
        }
    };
    let lasts = exchange.server.fault().and_then(crate::faults::Fault::listening_lasts);
    match lasts {
        None => tell.await,
        Some(lasts) => {
            let _ = tokio::time::timeout(lasts, tell).await;
        }
    }
    Answer::Result(json!({"_meta": meta}))
}

fn changed(params: &Value) -> String {
    message::notice("notifications/tools/list_changed", params)
}
