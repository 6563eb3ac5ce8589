//! One client of a server: its state, its outgoing messages, and its notifications of changes.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::{Notify, mpsc, oneshot};

use crate::message;

#[derive(Debug, Default)]
pub(crate) struct FixtureConversation {
    revision: Mutex<Option<String>>,
    running: Mutex<HashMap<String, Arc<Notify>>>,
    asked: Mutex<HashMap<String, oneshot::Sender<Value>>>,
    questions: AtomicU64,
    subscriptions: Mutex<BTreeSet<String>>,
    /// Minimum level of log messages, once the client has set one.
    pub(crate) level: Mutex<Option<String>>,
}

impl FixtureConversation {
    /// Returns the negotiated legacy revision, once `initialize` was answered.
    pub(crate) fn revision(&self) -> Option<String> {
        self.revision.lock().clone()
    }

    pub(crate) fn agree(&self, revision: &str) {
        *self.revision.lock() = Some(revision.to_owned());
    }

    /// Registers a running request. The returned value fires when the request is cancelled.
    pub(crate) fn begin(&self, id: &Value) -> Arc<Notify> {
        let cancelled = Arc::new(Notify::new());
        self.running.lock().insert(id.to_string(), Arc::clone(&cancelled));
        cancelled
    }

    pub(crate) fn end(&self, id: &Value) {
        self.running.lock().remove(&id.to_string());
    }

    /// Cancels a request and returns whether it was running.
    pub(crate) fn cancel(&self, id: &Value) -> bool {
        let running = self.running.lock().get(&id.to_string()).cloned();
        if let Some(cancelled) = &running {
            cancelled.notify_one();
        }
        running.is_some()
    }

    /// Sends a request to the client and returns its reply as a whole message.
    pub(crate) async fn ask(&self, outlet: &Outlet, method: &str, params: &Value) -> Value {
        let id = json!(format!("ask-{}", self.questions.fetch_add(1, Ordering::Relaxed) + 1));
        let (sender, reply) = oneshot::channel();
        self.asked.lock().insert(id.to_string(), sender);
        outlet.notice(message::question(&id, method, params)).await;
        reply.await.unwrap_or(Value::Null)
    }

    pub(crate) fn subscribe(&self, uri: &str) {
        self.subscriptions.lock().insert(uri.to_owned());
    }

    pub(crate) fn unsubscribe(&self, uri: &str) {
        self.subscriptions.lock().remove(uri);
    }

    pub(crate) fn is_subscribed(&self, uri: &str) -> bool {
        self.subscriptions.lock().contains(uri)
    }

    pub(crate) fn deliver_reply(&self, reply: Value) {
        let id = reply.get("id").unwrap_or(&Value::Null).to_string();
        let waiting = self.asked.lock().remove(&id);
        if let Some(waiting) = waiting {
            let _ = waiting.send(reply);
        }
    }
}

/// One action on the output: on standard output or on a TCP connection.
#[derive(Debug)]
pub(crate) enum WireStep {
    Write(Vec<u8>),
    /// Writes the bytes one at a time, each flushed.
    Trickle(Vec<u8>),
    Pause(Duration),
    /// Writes the bytes over and over, with a pause in between.
    Repeat(Vec<u8>, Duration),
    /// Exits the process once all earlier steps are written.
    Exit(i32),
    /// Closes standard output, or the connection with a FIN.
    Close,
    /// Closes the connection with a RST.
    Reset,
}

#[derive(Debug)]
pub(crate) enum Emission {
    /// A message other than an answer.
    Notice(String),
    /// The answer to a request, with its error code if it is a refusal.
    Final(String, Option<i64>),
    /// Raw bytes instead of a message.
    Wire(Vec<WireStep>),
}

/// The output of one conversation (stdio) or one request (HTTP).
#[derive(Clone, Debug)]
pub(crate) struct Outlet(mpsc::Sender<Emission>);

impl Outlet {
    pub(crate) fn new() -> (Self, mpsc::Receiver<Emission>) {
        let (sender, receiver) = mpsc::channel(256);
        (Self(sender), receiver)
    }

    // A closed receiver is an ordinary end of a conversation, so errors of `send` are ignored.

    pub(crate) async fn notice(&self, text: String) {
        let _ = self.0.send(Emission::Notice(text)).await;
    }

    pub(crate) async fn finish(&self, text: String, code: Option<i64>) {
        let _ = self.0.send(Emission::Final(text, code)).await;
    }

    pub(crate) async fn wire(&self, steps: Vec<WireStep>) {
        let _ = self.0.send(Emission::Wire(steps)).await;
    }

    /// Waits until the receiver is closed.
    pub(crate) async fn wait_closed(&self) {
        self.0.closed().await;
    }
}

/// A change in a server.
#[derive(Clone, Debug)]
pub(crate) enum ChangeNotice {
    Tools,
    Prompts,
    Resource(String),
    Task(String),
}

impl ChangeNotice {
    /// Whether a legacy client is notified. Changes of lists concern every client.
    pub(crate) fn is_for(&self, client: &FixtureConversation) -> bool {
        match self {
            Self::Tools | Self::Prompts => true,
            Self::Resource(uri) => client.is_subscribed(uri),
            Self::Task(_) => false,
        }
    }

    /// Whether the subscription that a modern client was granted covers the change.
    pub(crate) fn is_granted(&self, granted: &Value) -> bool {
        let names = |key: &str, name: &str| {
            granted[key].as_array().is_some_and(|all| all.iter().any(|one| one == name))
        };
        match self {
            Self::Tools => granted["toolsListChanged"] == true,
            Self::Prompts => granted["promptsListChanged"] == true,
            Self::Resource(uri) => names("resourceSubscriptions", uri),
            Self::Task(id) => names("taskIds", id),
        }
    }

    /// Returns the notification; `meta` is the `_meta` of a modern subscription.
    pub(crate) fn notice(&self, meta: Option<&Value>) -> String {
        let (method, mut params) = match self {
            Self::Tools => ("notifications/tools/list_changed", json!({})),
            Self::Prompts => ("notifications/prompts/list_changed", json!({})),
            Self::Resource(uri) => ("notifications/resources/updated", json!({ "uri": uri })),
            Self::Task(id) => ("notifications/tasks", json!({"taskId": id, "status": "working"})),
        };
        if let Some(meta) = meta {
            params["_meta"] = meta.clone();
        }
        message::notice(method, &params)
    }
}
