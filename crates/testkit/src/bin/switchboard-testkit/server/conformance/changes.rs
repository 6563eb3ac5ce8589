//! What changes while the server runs, and which clients are told.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use serde_json::{Value, json};
use tokio::sync::broadcast;

use crate::conversation::FixtureConversation;
use crate::message;

const LOCK: &str = "no fixture code panics while it holds a lock";

/// One thing that has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ChangeNotice {
    Prompts,
    Resource(String),
}

/// What a legacy client has said that it wants.
#[derive(Debug, Default)]
struct ClientSubscriptions {
    subscribed: BTreeSet<String>,
    level: Option<String>,
}

/// A process is one server, so what it remembers is here.
#[derive(Debug)]
struct ServerMemory {
    told: broadcast::Sender<ChangeNotice>,
    prompts: AtomicUsize,
    wishes: Mutex<Vec<(Arc<FixtureConversation>, ClientSubscriptions)>>,
}

fn memory() -> &'static ServerMemory {
    static MEMORY: OnceLock<ServerMemory> = OnceLock::new();
    MEMORY.get_or_init(|| ServerMemory {
        told: broadcast::channel(64).0,
        prompts: AtomicUsize::new(0),
        wishes: Mutex::default(),
    })
}

/// Everything from here on.
pub(crate) fn watch_changes() -> broadcast::Receiver<ChangeNotice> {
    memory().told.subscribe()
}

/// Tells whoever listens; there may be nobody.
pub(super) fn tell(news: ChangeNotice) {
    let _ = memory().told.send(news);
}

/// How many prompts were added.
pub(super) fn prompts() -> usize {
    memory().prompts.load(Ordering::SeqCst)
}

pub(super) fn add_prompt() -> usize {
    let count = memory().prompts.fetch_add(1, Ordering::SeqCst) + 1;
    tell(ChangeNotice::Prompts);
    count
}

pub(super) fn subscribe(client: &Arc<FixtureConversation>, uri: &str) {
    with_subscriptions(client, |wishes| wishes.subscribed.insert(uri.to_owned()));
}

pub(super) fn unsubscribe(client: &Arc<FixtureConversation>, uri: &str) {
    with_subscriptions(client, |wishes| wishes.subscribed.remove(uri));
}

pub(super) fn set_level(client: &Arc<FixtureConversation>, level: &str) {
    with_subscriptions(client, |wishes| wishes.level = Some(level.to_owned()));
}

/// The least serious messages that a client wants, once it said so.
pub(super) fn level(client: &Arc<FixtureConversation>) -> Option<String> {
    with_subscriptions(client, |wishes| wishes.level.clone())
}

fn with_subscriptions<T>(
    client: &Arc<FixtureConversation>,
    with: impl FnOnce(&mut ClientSubscriptions) -> T,
) -> T {
    let mut all = memory().wishes.lock().expect(LOCK);
    let place = all.iter().position(|(known, _)| Arc::ptr_eq(known, client));
    let place = place.unwrap_or_else(|| {
        all.push((Arc::clone(client), ClientSubscriptions::default()));
        all.len() - 1
    });
    with(&mut all[place].1)
}

impl ChangeNotice {
    /// Whether a legacy client is told; changes of lists are for everybody.
    pub(crate) fn is_for(&self, client: &Arc<FixtureConversation>) -> bool {
        match self {
            Self::Prompts => true,
            Self::Resource(uri) => {
                with_subscriptions(client, |wishes| wishes.subscribed.contains(uri))
            }
        }
    }

    /// Whether a modern client asked for it.
    pub(super) fn is_wanted(&self, wanted: &Value) -> bool {
        match self {
            Self::Prompts => wanted["promptsListChanged"] == true,
            Self::Resource(uri) => {
                let uris = wanted["resourceSubscriptions"].as_array();
                uris.is_some_and(|uris| uris.iter().any(|wanted| wanted == uri.as_str()))
            }
        }
    }

    /// The notification, with what a modern subscription puts into it.
    pub(crate) fn notice(&self, meta: Option<&Value>) -> String {
        let (method, mut params) = match self {
            Self::Prompts => ("notifications/prompts/list_changed", json!({})),
            Self::Resource(uri) => ("notifications/resources/updated", json!({ "uri": uri })),
        };
        if let Some(meta) = meta {
            params["_meta"] = meta.clone();
        }
        message::notice(method, &params)
    }
}
