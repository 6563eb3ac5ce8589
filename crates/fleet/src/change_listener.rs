//! Keeps the announcements of a modern server coming: it tells of changes only while it is asked to.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use switchboard_core::ServerId;
use switchboard_wire::handshake::Agreement;
use switchboard_wire::{Era, Peer, Request, RequestError, RpcError};
use tokio::sync::mpsc;
use tokio::time::sleep;

use crate::connect_context::Surroundings;
use crate::server_sync::can_subscribe;

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

/// Who listens to what.
pub(crate) struct Listening<'a> {
    pub(crate) peer: &'a Peer,
    pub(crate) server: &'a ServerId,
    pub(crate) around: &'a Surroundings,
    /// Whether this connection hears about resources: one of several is enough.
    pub(crate) hears_of_resources: bool,
    /// Is told whenever something may have been missed.
    pub(crate) again: mpsc::Sender<()>,
    /// Is set when the server does not know how to tell of changes.
    pub(crate) deaf: &'a AtomicBool,
}

impl Listening<'_> {
    /// Listens until the connection ends.
    pub(crate) async fn run(self, agreement: &Agreement) {
        if agreement.revision.era() == Era::Modern {
            self.keep_listening(agreement).await;
        }
        std::future::pending::<()>().await;
    }

    async fn keep_listening(&self, agreement: &Agreement) {
        let lists = lists(agreement);
        let hears_of_resources = self.hears_of_resources && can_subscribe(agreement);
        let mut changes = self.around.subscriptions.changes();
        let mut wait = WAITS.0;
        while !self.peer.is_closed() {
            changes.load();
            let resources = match hears_of_resources {
                true => self.around.subscriptions.of(self.server),
                false => BTreeSet::new(),
            };
            let mut wanted = lists.clone();
            if !resources.is_empty() {
                wanted.insert("resourceSubscriptions".to_owned(), json!(resources));
            }
            let other = async {
                while self.around.subscriptions.of(self.server) == resources || !hears_of_resources
                {
                    changes.changed().await;
                }
            };
            if wanted.is_empty() {
                other.await;
                continue;
            }
            let params = json!({ "notifications": wanted }).to_string();
            let request = Request::new("subscriptions/listen", &params, TERM);
            let listening = self.peer.request(request);
            let outcome = tokio::select! {
                outcome = listening => outcome,
                // One request says everything that is wanted, so another takes its place.
                () = other => {
                    self.again.try_send(()).ok();
                    continue;
                }
            };
            match outcome {
                Err(RequestError::Rpc(error)) if error.code == RpcError::METHOD_NOT_FOUND => {
                    self.deaf.store(true, Ordering::Relaxed);
                    self.again.try_send(()).ok();
                    return;
                }
                Ok(_) => wait = WAITS.0,
                Err(_) => wait = (wait * 2).min(WAITS.1),
            }
            sleep(wait).await;
            // A full queue already says it.
            self.again.try_send(()).ok();
        }
    }
}

/// How long lists last whose changes a modern server does not tell of, where it says.
pub(crate) fn unheard(
    agreement: &Agreement,
    deaf: &AtomicBool,
    lasts: [Option<Duration>; 4],
) -> [Option<Duration>; 4] {
    if agreement.revision.era() == Era::Legacy {
        return [None; 4];
    }
    let Declared { tools, resources, prompts } = agreement.capabilities.read().unwrap_or_default();
    let hears = !deaf.load(Ordering::Relaxed);
    let [of_tools, of_resources, of_templates, of_prompts] = lasts;
    let unless =
        |lists: &Lists, lasts: Option<Duration>| lasts.filter(|_| !(hears && lists.list_changed));
    [
        unless(&tools, of_tools),
        unless(&resources, of_resources),
        unless(&resources, of_templates),
        unless(&prompts, of_prompts),
    ]
}

/// The lists whose changes the server tells of.
fn lists(agreement: &Agreement) -> Map<String, Value> {
    let declared: Declared = agreement.capabilities.read().unwrap_or_default();
    let wanted = [
        ("toolsListChanged", declared.tools.list_changed),
        ("resourcesListChanged", declared.resources.list_changed),
        ("promptsListChanged", declared.prompts.list_changed),
    ];
    let declared = wanted.iter().filter(|(_, declared)| *declared);
    declared.map(|(name, _)| ((*name).to_owned(), json!(true))).collect()
}
