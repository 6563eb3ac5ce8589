//! `subscriptions/listen`: tells a modern client when the list of tools or a resource changes.

use serde_json::{Value, json};

use super::Exchange;
use crate::message::{self, INVALID_PARAMS, IncomingMessage, META_SUBSCRIPTION, RpcAnswer};

/// Runs until the request is cancelled, or as long as a fault lets it.
pub(crate) async fn listen(exchange: &Exchange, incoming: &IncomingMessage) -> RpcAnswer {
    let Some(wanted) = incoming.params.get("notifications").filter(|wanted| wanted.is_object())
    else {
        return RpcAnswer::refuse(INVALID_PARAMS, "`notifications` is missing");
    };
    let tools = wanted.get("toolsListChanged") == Some(&json!(true));
    let addresses: Vec<String> = wanted["resourceSubscriptions"]
        .as_array()
        .map(|all| all.iter().filter_map(|uri| uri.as_str().map(str::to_owned)).collect())
        .unwrap_or_default();
    let mut granted = if tools { json!({"toolsListChanged": true}) } else { json!({}) };
    if !addresses.is_empty() {
        granted["resourceSubscriptions"] = json!(addresses);
    }
    let ids = wanted.get("taskIds").cloned().unwrap_or_default();
    if ids.is_array() {
        granted["taskIds"] = ids.clone();
    }
    let meta = json!({META_SUBSCRIPTION: incoming.id()});
    let mut changes = exchange.server.changes();
    let mut tasks = exchange.server.task_news();
    let mut touches = exchange.server.touches();
    let acknowledged = json!({"_meta": meta, "notifications": granted});
    let acknowledged = message::notice("notifications/subscriptions/acknowledged", &acknowledged);
    exchange.outlet.notice(acknowledged).await;
    let tell = async {
        loop {
            tokio::select! {
                Ok(()) = changes.recv() => if tools {
                    exchange.outlet.notice(resource_updated(&json!({"_meta": meta}))).await;
                },
                Ok(uri) = touches.recv() => if addresses.contains(&uri) {
                    let updated = json!({"_meta": meta, "uri": uri});
                    let method = "notifications/resources/updated";
                    exchange.outlet.notice(message::notice(method, &updated)).await;
                },
                Ok(id) = tasks.recv() => {
                    if ids.as_array().is_some_and(|ids| ids.contains(&json!(id))) {
                        let params = json!({"_meta": meta, "taskId": id, "status": "working"});
                        let notice = message::notice("notifications/tasks", &params);
                        exchange.outlet.notice(notice).await;
                    }
                }
                else => return,
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
    RpcAnswer::Result(json!({"_meta": meta}))
}

fn resource_updated(params: &Value) -> String {
    message::notice("notifications/tools/list_changed", params)
}
