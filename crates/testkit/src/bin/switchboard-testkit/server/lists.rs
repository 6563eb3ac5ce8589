//! Pages and overlays of lists, and `subscriptions/listen` for their changes.

use serde_json::{Value, json};

use super::{Exchange, FixtureServer};
use crate::message::{INVALID_PARAMS, IncomingMessage, META_SUBSCRIPTION, RpcAnswer};
use crate::options::ServerKind;

/// Serves `subscriptions/listen` until the request is cancelled or a fault ends it.
pub(crate) async fn listen(exchange: &Exchange, incoming: &IncomingMessage) -> RpcAnswer {
    let Some(wanted) = incoming.params.get("notifications").filter(|wanted| wanted.is_object())
    else {
        return RpcAnswer::refuse(INVALID_PARAMS, "`notifications` is missing");
    };
    let third = match exchange.server.options.kind {
        ServerKind::Conformance => "promptsListChanged",
        _ => "taskIds",
    };
    let mut granted = json!({});
    for name in ["toolsListChanged", "resourceSubscriptions", third] {
        let value = wanted.get(name);
        if let Some(value) = value.filter(|value| **value != json!(false) && **value != json!([])) {
            granted[name] = value.clone();
        }
    }
    let meta = json!({META_SUBSCRIPTION: incoming.id()});
    let mut changes = exchange.server.changes();
    let acknowledged = json!({"_meta": meta, "notifications": granted});
    exchange.notify("notifications/subscriptions/acknowledged", &acknowledged).await;
    let tell = async {
        while let Ok(change) = changes.recv().await {
            if change.is_granted(&granted) {
                exchange.outlet.notice(change.notice(Some(&meta))).await;
            }
        }
    };
    match exchange.server.fault().and_then(crate::faults::Fault::listening_lasts) {
        None => tell.await,
        Some(lasts) => {
            let _ = tokio::time::timeout(lasts, tell).await;
        }
    }
    RpcAnswer::Result(json!({"_meta": meta}))
}

/// Returns one page of a list, with a cursor if another page follows.
pub(crate) fn page(
    key: &str,
    items: Vec<Value>,
    size: Option<usize>,
    incoming: &IncomingMessage,
) -> RpcAnswer {
    let start = match incoming.params.get("cursor") {
        None => 0,
        Some(cursor) => {
            let start = cursor.as_str().and_then(|text| text.strip_prefix("page:")?.parse().ok());
            match start {
                Some(start) if start < items.len() => start,
                _ => return RpcAnswer::refuse(INVALID_PARAMS, "unknown cursor"),
            }
        }
    };
    let total = items.len();
    let end = size.map_or(total, |size| total.min(start + size.max(1)));
    let shown: Vec<Value> = items.into_iter().skip(start).take(end - start).collect();
    let mut result = json!({ key: shown });
    if end < total {
        result["nextCursor"] = json!(format!("page:{end}"));
    }
    RpcAnswer::Result(result)
}

/// The lists: their method, the member that holds the items, and the key of an item.
const LISTS: [(&str, &str, &str); 3] = [
    ("tools/list", "tools", "name"),
    ("prompts/list", "prompts", "name"),
    ("resources/templates/list", "resourceTemplates", "uriTemplate"),
];

/// Applies the overlay file to an answer: `instructions`, and items, whose members replace those of
/// the item of the same name, or which are added. `"gone": true` removes an item, and `reversed`
/// reverses the lists.
pub(crate) fn overlay(server: &FixtureServer, method: &str, answer: RpcAnswer) -> RpcAnswer {
    let text = server.options.overlay.as_ref().and_then(|file| std::fs::read_to_string(file).ok());
    let (Some(text), RpcAnswer::Result(mut result)) = (text, answer.clone()) else { return answer };
    let overlay: Value = serde_json::from_str(&text).expect("an overlay is JSON");
    if let Some(said) = overlay.get("instructions")
        && matches!(method, "initialize" | "server/discover")
    {
        result["instructions"] = said.clone();
    }
    for (_, member, name) in LISTS.into_iter().filter(|(list, ..)| *list == method) {
        let Some(items) = result[member].as_array_mut() else { continue };
        for wanted in overlay[member].as_array().into_iter().flatten() {
            lay_over(items, wanted, name);
        }
        if overlay["reversed"] == true {
            items.reverse();
        }
    }
    RpcAnswer::Result(result)
}

fn lay_over(items: &mut Vec<Value>, wanted: &Value, name: &str) {
    if wanted["gone"] == true {
        items.retain(|item| item[name] != wanted[name]);
        return;
    }
    match items.iter_mut().find(|item| item[name] == wanted[name]) {
        None => items.push(wanted.clone()),
        Some(item) => {
            for (key, value) in wanted.as_object().expect("an item is an object") {
                item[key] = value.clone();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::page;
    use crate::message::{IncomingMessage, RpcAnswer};

    fn ask(cursor: Option<&str>) -> Result<Value, i64> {
        let params = cursor.map_or_else(|| json!({}), |cursor| json!({"cursor": cursor}));
        let incoming =
            IncomingMessage { id: Some(json!(1)), method: "tools/list".to_owned(), params };
        match page("tools", vec![json!(1), json!(2), json!(3)], Some(2), &incoming) {
            RpcAnswer::Result(result) => Ok(result),
            other => Err(other.code().unwrap()),
        }
    }

    #[test]
    fn cursors_walk_through_the_whole_list_and_no_further() {
        assert_eq!(ask(None), Ok(json!({"tools": [1, 2], "nextCursor": "page:2"})));
        assert_eq!(ask(Some("page:2")), Ok(json!({"tools": [3]})));
        assert_eq!(ask(Some("page:3")), Err(-32602));
        assert_eq!(ask(Some("elsewhere")), Err(-32602));
    }
}
