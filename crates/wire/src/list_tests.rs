//! Lists as servers send them: empty, paginated, with bad entries, endless.

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

use super::*;
use crate::{WireLimits, stream};

const SOON: Duration = Duration::from_secs(10);

/// Lists the items of a server that sends these pages in a cycle.
async fn listed(pages: &[Value], bounds: ListBounds) -> Result<ListResult, RequestError> {
    let (near, far) = tokio::io::duplex(1 << 16);
    let (from, to) = tokio::io::split(near);
    let (peer, _inbound) = stream::start_stream(from, to, WireLimits::default());
    let (from, mut to) = tokio::io::split(far);
    let mut lines = BufReader::new(from).lines();
    let serving = async move {
        for page in pages.iter().cycle() {
            let Ok(Some(line)) = lines.next_line().await else { break };
            let asked: Value = serde_json::from_str(&line).unwrap();
            let mut answer = json!({"jsonrpc": "2.0", "id": asked["id"]});
            let key = if page.get("code").is_some() { "error" } else { "result" };
            answer[key] = page.clone();
            to.write_all(format!("{answer}\n").as_bytes()).await.unwrap();
        }
    };
    tokio::select! {
        listing = fetch_list(&peer, ItemKind::Prompts, SOON, bounds) => listing,
        () = serving => panic!("the client left before it had the list"),
    }
}

fn names(listing: &ListResult) -> Vec<&str> {
    listing.items.iter().map(|item| &*item.key).collect()
}

#[tokio::test]
async fn a_server_without_the_method_has_none_and_another_error_is_one() {
    let none = json!({"code": -32_601, "message": "Method not found"});
    let listing = listed(&[none], ListBounds::default()).await.unwrap();
    assert_eq!((listing.items.len(), listing.faults.len()), (0, 0));
    let broken = json!({"code": -32_603, "message": "oh no"});
    assert!(listed(&[broken], ListBounds::default()).await.is_err());
}

#[tokio::test]
async fn pages_are_put_together_and_bad_entries_are_told() {
    let pages = [
        json!({"prompts": [{"name": "a"}, {"title": "without a name"}], "nextCursor": "2"}),
        json!({"prompts": [{"name": "a"}, 7, {"name": "b"}], "nextCursor": null}),
    ];
    let listing = listed(&pages, ListBounds::default()).await.unwrap();
    assert_eq!(names(&listing), ["a", "b"]);
    assert_eq!((listing.left_out, listing.faults.len()), (3, 3), "{:?}", listing.faults);
}

#[tokio::test]
async fn what_came_before_an_odd_cursor_is_kept() {
    for cursor in [json!(5), json!({}), json!(true)] {
        let page = json!({"prompts": [{"name": "a"}], "nextCursor": cursor});
        let listing = listed(&[page], ListBounds::default()).await.unwrap();
        assert_eq!((names(&listing), listing.faults.len()), (vec!["a"], 1), "{cursor}");
    }
}

#[tokio::test]
async fn a_list_without_an_end_is_cut_and_told() {
    let same = json!({"prompts": [{"name": "a"}], "nextCursor": "again"});
    let listing = listed(&[same], ListBounds::default()).await.unwrap();
    assert!(listing.faults.iter().any(|fault| fault.contains("same page")), "{listing:?}");
    let pages = [
        json!({"prompts": [{"name": "a"}], "nextCursor": "1"}),
        json!({"prompts": [{"name": "b"}], "nextCursor": "2"}),
    ];
    let listing = listed(&pages, ListBounds { pages: 5, ..ListBounds::default() }).await.unwrap();
    assert_eq!(names(&listing), ["a", "b"]);
    assert!(listing.faults.iter().any(|fault| fault.contains("on 5 pages")), "{listing:?}");
}
