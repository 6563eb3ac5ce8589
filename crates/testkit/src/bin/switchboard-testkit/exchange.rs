//! One client of a server: what the server remembers about it, sends to it and tells it of changes.

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
    /// The least serious log messages that the client wants, once it said so.
    pub(crate) level: Mutex<Option<String>>,
}

impl FixtureConversation {
    /// The legacy revision agreed on, once `initialize` was answered.
    pub(crate) fn revision(&self) -> Option<String> {
        self.revision.lock().clone()
    }

    pub(crate) fn agree(&self, revision: &str) {
        *self.revision.lock() = Some(revision.to_owned());
    }

    /// Notes that a request is being worked on; the returned value fires when it is cancelled.
    pub(crate) fn begin(&self, id: &Value) -> Arc<Notify> {
        let cancelled = Arc::new(Notify::new());
        self.running.lock().insert(id.to_string(), Arc::clone(&cancelled));
        cancelled
    }

    pub(crate) fn end(&self, id: &Value) {
        self.running.lock().remove(&id.to_string());
    }

    /// Cancels a request; says whether it was running.
    pub(crate) fn cancel(&self, id: &Value) -> bool {
        let running = self.running.lock().get(&id.to_string()).cloned();
        if let Some(cancelled) = &running {
            cancelled.notify_one();
        }
        running.is_some()
    }

    /// Sends a request to the client and waits for its reply, the whole message.
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

/// One thing done to the bytes that leave: to standard output or to a TCP connection.
#[derive(Debug)]
pub(crate) enum WireStep {
    Write(Vec<u8>),
    /// The same bytes one at a time, each flushed.
    Trickle(Vec<u8>),
    Pause(Duration),
    /// The same bytes for ever, with a pause between.
    Repeat(Vec<u8>, Duration),
    /// Ends the process once everything before is written.
    Exit(i32),
    /// Closes standard output, or the connection with a FIN.
    Close,
    /// Closes the connection with a RST.
    Reset,
}

#[derive(Debug)]
pub(crate) enum Emission {
    /// A message that is not the last for its request.
    Notice(String),
    /// The answer, with its error code if it is a refusal.
    Final(String, Option<i64>),
    /// Bytes instead of a message.
    Wire(Vec<WireStep>),
}

/// The way out for one conversation (stdio) or one request (HTTP).
#[derive(Clone, Debug)]
pub(crate) struct Outlet(mpsc::Sender<Emission>);

impl Outlet {
    pub(crate) fn new() -> (Self, mpsc::Receiver<Emission>) {
        let (sender, receiver) = mpsc::channel(256);
        (Self(sender), receiver)
    }

    // Nobody listening is an ordinary end of a conversation, so failing to send is ignored.

    pub(crate) async fn notice(&self, text: String) {
        let _ = self.0.send(Emission::Notice(text)).await;
    }

    pub(crate) async fn finish(&self, text: String, code: Option<i64>) {
        let _ = self.0.send(Emission::Final(text, code)).await;
    }

    pub(crate) async fn wire(&self, steps: Vec<WireStep>) {
        let _ = self.0.send(Emission::Wire(steps)).await;
    }

    /// Waits until nobody reads what is sent here.
    pub(crate) async fn wait_closed(&self) {
        self.0.closed().await;
    }
}

/// Something that has changed in a server.
#[derive(Clone, Debug)]
pub(crate) enum ChangeNotice {
    Tools,
    Prompts,
    Resource(String),
    Task(String),
}

impl ChangeNotice {
    /// Whether a legacy client is told; changes of lists are for everybody.
    pub(crate) fn is_for(&self, client: &FixtureConversation) -> bool {
        match self {
            Self::Tools | Self::Prompts => true,
            Self::Resource(uri) => client.is_subscribed(uri),
            Self::Task(_) => false,
        }
    }

    /// Whether it is among what a modern client asked for and was granted.
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

    /// The notification, with what a modern subscription puts into it.
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
