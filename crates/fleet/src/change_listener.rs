//! The `subscriptions/listen` request, which keeps change notifications of a modern server coming.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use switchboard_core::ServerId;
use switchboard_wire::{Agreement, Era, Peer, Request, RequestError, RpcError};
use tokio::sync::mpsc;
use tokio::time::sleep;

use crate::connect_context::ConnectContext;
use crate::server_sync::can_subscribe;

/// How long one listen request may run before it is renewed.
const LISTEN_TIMEOUT: Duration = Duration::from_secs(86_400);
/// Minimum and maximum delay before the request is repeated.
const RETRY_DELAY_RANGE: (Duration, Duration) = (Duration::from_secs(5), Duration::from_secs(60));

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ListCapabilities {
    tools: ListCapability,
    resources: ListCapability,
    prompts: ListCapability,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ListCapability {
    list_changed: bool,
}

/// Listens to the change notifications of one connection.
pub(crate) struct ChangeListener<'a> {
    pub(crate) peer: &'a Peer,
    pub(crate) server: &'a ServerId,
    pub(crate) context: &'a ConnectContext,
    /// Whether this connection receives resource updates. One instance per server is enough.
    pub(crate) listens_to_resources: bool,
    /// Signals that changes may have been missed.
    pub(crate) missed: mpsc::Sender<()>,
    /// Set if the server does not support change notifications.
    pub(crate) unsupported: &'a AtomicBool,
}

impl ChangeListener<'_> {
    pub(crate) async fn run(self, agreement: &Agreement) {
        // Legacy servers send their notifications without a request.
        if agreement.revision.era() == Era::Modern {
            self.keep_listening(agreement).await;
        }
        std::future::pending::<()>().await;
    }

    async fn keep_listening(&self, agreement: &Agreement) {
        let lists = announced_lists(agreement);
        let hears_of_resources = self.listens_to_resources && can_subscribe(agreement);
        let mut changes = self.context.subscriptions.changes();
        let mut wait = RETRY_DELAY_RANGE.0;
        while !self.peer.is_closed() {
            // Marks the current subscriptions as seen, before they are read below.
            changes.load();
            let resources = match hears_of_resources {
                true => self.context.subscriptions.wanted_uris(self.server),
                false => BTreeSet::new(),
            };
            let mut wanted = lists.clone();
            if !resources.is_empty() {
                wanted.insert("resourceSubscriptions".to_owned(), json!(resources));
            }
            let other = async {
                while self.context.subscriptions.wanted_uris(self.server) == resources
                    || !hears_of_resources
                {
                    changes.changed().await;
                }
            };
            if wanted.is_empty() {
                other.await;
                continue;
            }
            let params = json!({ "notifications": wanted }).to_string();
            let request = Request::new("subscriptions/listen", &params, LISTEN_TIMEOUT);
            let outcome = tokio::select! {
                outcome = self.peer.request(request) => outcome,
                // A request lists all wanted notifications, so a change needs a new request.
                () = other => {
                    self.report_missed();
                    continue;
                }
            };
            match outcome {
                Err(RequestError::Rpc(error)) if error.code == RpcError::METHOD_NOT_FOUND => {
                    self.unsupported.store(true, Ordering::Relaxed);
                    self.report_missed();
                    return;
                }
                Ok(_) => wait = RETRY_DELAY_RANGE.0,
                Err(_) => wait = (wait * 2).min(RETRY_DELAY_RANGE.1),
            }
            // The lists may have changed while no request was open.
            sleep(wait).await;
            self.report_missed();
        }
    }

    fn report_missed(&self) {
        // A full queue already holds the same signal.
        _ = self.missed.try_send(());
    }
}

/// Returns the TTLs of the lists for which a modern server sends no change notifications.
pub(crate) fn unannounced_ttls(
    agreement: &Agreement,
    deaf: &AtomicBool,
    lasts: [Option<Duration>; 4],
) -> [Option<Duration>; 4] {
    if agreement.revision.era() == Era::Legacy {
        return [None; 4];
    }
    let ListCapabilities { tools, resources, prompts } =
        agreement.capabilities.read().unwrap_or_default();
    let hears = !deaf.load(Ordering::Relaxed);
    let [of_tools, of_resources, of_templates, of_prompts] = lasts;
    let unless = |lists: &ListCapability, lasts: Option<Duration>| {
        lasts.filter(|_| !(hears && lists.list_changed))
    };
    [
        unless(&tools, of_tools),
        unless(&resources, of_resources),
        unless(&resources, of_templates),
        unless(&prompts, of_prompts),
    ]
}

/// Returns the lists for which the server sends change notifications.
fn announced_lists(agreement: &Agreement) -> Map<String, Value> {
    let declared: ListCapabilities = agreement.capabilities.read().unwrap_or_default();
    let wanted = [
        ("toolsListChanged", declared.tools.list_changed),
        ("resourcesListChanged", declared.resources.list_changed),
        ("promptsListChanged", declared.prompts.list_changed),
    ];
    let declared = wanted.iter().filter(|(_, declared)| *declared);
    declared.map(|(name, _)| ((*name).to_owned(), json!(true))).collect()
}
