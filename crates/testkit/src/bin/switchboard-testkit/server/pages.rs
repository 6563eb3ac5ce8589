//! Cuts lists into pages.

use serde_json::{Value, json};

use crate::message::{INVALID_PARAMS, IncomingMessage, RpcAnswer};

/// One page of a list, with a cursor if another follows.
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
