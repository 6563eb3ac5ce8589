//! Keeps the announcements of a modern server coming: it tells of changes only while it is asked to.

use std::time::Duration;

use serde::Deserialize;
use switchboard_wire::handshake::Agreement;
use switchboard_wire::{Era, Peer, Request, RequestError, RpcError};
use tokio::sync::mpsc;
use tokio::time::sleep;

/// One request to listen is renewed after this at the latest.
const TERM: Duration = Duration::from_secs(86_400);
/// The shortest and the longest wait before the request is made again.
const WAITS: (Duration, Duration) = (Duration::from_secs(5), Duration::from_secs(60));

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Declared {
    tools: Lists,
    resources: Lists,
    prompts: Lists,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Lists {
    list_changed: bool,
}

/// Listens until the connection ends; tells `again` whenever something may have been missed.
pub(super) async fn listen(peer: &Peer, agreement: &Agreement, again: mpsc::Sender<()>) {
    let declared: Declared = agreement.capabilities.read().unwrap_or_default();
    let wanted = [
        ("toolsListChanged", declared.tools.list_changed),
        ("resourcesListChanged", declared.resources.list_changed),
        ("promptsListChanged", declared.prompts.list_changed),
    ];
    let members: Vec<String> = wanted
        .iter()
        .filter(|(_, declared)| *declared)
        .map(|(name, _)| format!(r#""{name}":true"#))
        .collect();
    if agreement.revision.era() == Era::Legacy || members.is_empty() {
        std::future::pending::<()>().await;
    }
    let params = format!(r#"{{"notifications":{{{}}}}}"#, members.join(","));
    let mut wait = WAITS.0;
    while !peer.is_closed() {
        let outcome = peer.request(Request::new("subscriptions/listen", &params, TERM)).await;
        match outcome {
            Err(RequestError::Rpc(error)) if error.code == RpcError::METHOD_NOT_FOUND => break,
            Ok(_) => wait = WAITS.0,
            Err(_) => wait = (wait * 2).min(WAITS.1),
        }
        sleep(wait).await;
        // A full queue already says it.
        again.try_send(()).ok();
    }
    std::future::pending::<()>().await;
}
