//! What a server remembers about one client: its revision, its running calls, its open questions.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::sync::{Notify, oneshot};

use crate::emission::Outlet;
use crate::message;

const LOCK: &str = "no fixture code panics while it holds a lock";

#[derive(Debug, Default)]
pub(crate) struct FixtureConversation {
    revision: Mutex<Option<String>>,
    running: Mutex<HashMap<String, Arc<Notify>>>,
    asked: Mutex<HashMap<String, oneshot::Sender<Value>>>,
    questions: AtomicU64,
    subscriptions: Mutex<BTreeSet<String>>,
}

impl FixtureConversation {
    /// The legacy revision agreed on, once `initialize` was answered.
    pub(crate) fn revision(&self) -> Option<String> {
        self.revision.lock().expect(LOCK).clone()
    }

    pub(crate) fn agree(&self, revision: &str) {
        *self.revision.lock().expect(LOCK) = Some(revision.to_owned());
    }

    /// Notes that a request is being worked on; the returned value fires when it is cancelled.
    pub(crate) fn begin(&self, id: &Value) -> Arc<Notify> {
        let cancelled = Arc::new(Notify::new());
        self.running.lock().expect(LOCK).insert(id.to_string(), Arc::clone(&cancelled));
        cancelled
    }

    pub(crate) fn end(&self, id: &Value) {
        self.running.lock().expect(LOCK).remove(&id.to_string());
    }

    /// Says whether such a request was running.
    pub(crate) fn cancel(&self, id: &Value) -> bool {
        let running = self.running.lock().expect(LOCK).get(&id.to_string()).cloned();
        if let Some(cancelled) = &running {
            cancelled.notify_one();
        }
        running.is_some()
    }

    /// Sends a request to the client and waits for its reply, the whole message.
    pub(crate) async fn ask(&self, outlet: &Outlet, method: &str, params: &Value) -> Value {
        let id = json!(format!("ask-{}", self.questions.fetch_add(1, Ordering::Relaxed) + 1));
        let (sender, reply) = oneshot::channel();
        self.asked.lock().expect(LOCK).insert(id.to_string(), sender);
        outlet.notice(message::question(&id, method, params)).await;
        reply.await.unwrap_or(Value::Null)
    }

    pub(crate) fn subscribe(&self, uri: &str) {
        self.subscriptions.lock().expect(LOCK).insert(uri.to_owned());
    }

    pub(crate) fn unsubscribe(&self, uri: &str) {
        self.subscriptions.lock().expect(LOCK).remove(uri);
    }

    pub(crate) fn is_subscribed(&self, uri: &str) -> bool {
        self.subscriptions.lock().expect(LOCK).contains(uri)
    }

    pub(crate) fn deliver_reply(&self, reply: Value) {
        let id = reply.get("id").unwrap_or(&Value::Null).to_string();
        let waiting = self.asked.lock().expect(LOCK).remove(&id);
        if let Some(waiting) = waiting {
            let _ = waiting.send(reply);
        }
    }
}
