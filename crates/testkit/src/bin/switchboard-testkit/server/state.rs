//! The state of one fixture process, and the context of a message.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::broadcast;

use crate::exchange::{ChangeNotice, FixtureConversation, Outlet};
use crate::faults::Fault;
use crate::journal::FixtureJournal;
use crate::message::{self, IncomingMessage};
use crate::options::{FixtureEra, FixtureOptions};
use crate::server::message_era::MessageEra;
use crate::server::tasks::FixtureTasks;

#[derive(Debug)]
pub(crate) struct FixtureServer {
    pub(crate) options: FixtureOptions,
    pub(crate) journal: FixtureJournal,
    pub(crate) trace: FixtureJournal,
    /// The eras that the server speaks.
    pub(crate) era: FixtureEra,
    fault: Option<Fault>,
    changed: broadcast::Sender<ChangeNotice>,
    grown: AtomicUsize,
    prompts: AtomicUsize,
    lists: AtomicUsize,
    store: FixtureJournal,
    issues: Mutex<usize>,
    pub(crate) tasks: FixtureTasks,
    visits: AtomicUsize,
}

impl FixtureServer {
    pub(crate) fn new(options: FixtureOptions) -> Self {
        let kept = options.store.as_ref().and_then(|path| std::fs::read_to_string(path).ok());
        let kept = kept.map_or(0, |text| text.lines().count());
        let store = FixtureJournal::open(options.store.as_deref());
        let fault = Fault::new(&options);
        // Some faults exist only in legacy servers.
        let is_legacy = fault.as_ref().is_some_and(Fault::is_for_legacy_servers);
        let usual = if is_legacy { FixtureEra::Legacy } else { FixtureEra::Dual };
        Self {
            era: options.era.unwrap_or(usual),
            fault,
            journal: FixtureJournal::open(options.journal.as_deref()),
            trace: FixtureJournal::open(options.trace.as_deref()),
            options,
            changed: broadcast::channel(64).0,
            grown: AtomicUsize::default(),
            prompts: AtomicUsize::default(),
            lists: AtomicUsize::default(),
            store,
            issues: Mutex::new(kept),
            tasks: FixtureTasks::default(),
            visits: AtomicUsize::default(),
        }
    }

    pub(crate) fn fault(&self) -> Option<&Fault> {
        self.fault.as_ref()
    }

    /// Subscribes to the changes from here on.
    pub(crate) fn changes(&self) -> broadcast::Receiver<ChangeNotice> {
        self.changed.subscribe()
    }

    pub(crate) fn announce(&self, change: ChangeNotice) {
        // An error means that no client listens.
        let _ = self.changed.send(change);
    }

    /// Counts a call of `visit` and returns the number of earlier ones.
    pub(crate) fn count_visit(&self) -> u64 {
        self.visits.fetch_add(1, Ordering::SeqCst) as u64
    }

    pub(crate) fn grow(&self) -> usize {
        let grown = self.grown.fetch_add(1, Ordering::SeqCst) + 1;
        self.announce(ChangeNotice::Tools);
        grown
    }

    /// Stores an issue and returns its number.
    pub(crate) fn keep_issue(&self, issue: impl FnOnce(usize) -> Value) -> usize {
        let mut issues = self.issues.lock();
        *issues += 1;
        self.store.line(&issue(*issues).to_string());
        *issues
    }

    pub(crate) fn grown(&self) -> usize {
        self.grown.load(Ordering::SeqCst)
    }

    pub(crate) fn add_prompt(&self) -> usize {
        let count = self.prompts.fetch_add(1, Ordering::SeqCst) + 1;
        self.announce(ChangeNotice::Prompts);
        count
    }

    pub(crate) fn prompts(&self) -> usize {
        self.prompts.load(Ordering::SeqCst)
    }

    /// Counts a listing of the tools and returns the number of earlier ones.
    pub(crate) fn count_listing(&self) -> usize {
        self.lists.fetch_add(1, Ordering::SeqCst)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Exchange {
    pub(crate) server: Arc<FixtureServer>,
    pub(crate) conversation: Arc<FixtureConversation>,
    pub(crate) outlet: Outlet,
}

/// One request with its era.
#[derive(Clone, Copy)]
pub(crate) struct ServerCall<'a> {
    pub(crate) exchange: &'a Exchange,
    pub(crate) incoming: &'a IncomingMessage,
    pub(crate) spoken: &'a MessageEra,
}

impl Exchange {
    pub(crate) async fn notify(&self, method: &str, params: &Value) {
        self.outlet.notice(message::notice(method, params)).await;
    }

    /// Reports progress if the request has a progress token.
    pub(crate) async fn report(&self, incoming: &IncomingMessage, mut progress: Value) {
        if let Some(token) = incoming.meta("progressToken") {
            progress["progressToken"] = token.clone();
            self.notify("notifications/progress", &progress).await;
        }
    }

    /// Sends a request to the client and returns its result or its error.
    pub(crate) async fn ask(&self, method: &str, params: &Value) -> Value {
        let mut reply = self.conversation.ask(&self.outlet, method, params).await;
        let result = reply["result"].take();
        if result.is_null() { reply["error"].take() } else { result }
    }
}
