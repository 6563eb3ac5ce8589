//! The state of one fixture process and what a message is handled with.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::sync::broadcast;

use crate::conversation::Conversation;
use crate::emission::Outlet;
use crate::faults::Fault;
use crate::journal::Journal;
use crate::options::Options;
use crate::server::tasks::Tasks;

#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) options: Options,
    pub(crate) journal: Journal,
    pub(crate) trace: Journal,
    changed: broadcast::Sender<()>,
    touched: broadcast::Sender<String>,
    grown: AtomicUsize,
    lists: AtomicUsize,
    store: Journal,
    /// How many issues there are.
    issues: Mutex<usize>,
    pub(crate) tasks: Tasks,
    task_news: broadcast::Sender<String>,
    visits: AtomicUsize,
}

impl Server {
    pub(crate) fn new(options: Options) -> Self {
        let kept = options.store.as_ref().and_then(|path| std::fs::read_to_string(path).ok());
        let kept = kept.map_or(0, |text| text.lines().count());
        let store = Journal::open(options.store.as_deref());
        Self {
            journal: Journal::open(options.journal.as_deref()),
            trace: Journal::open(options.trace.as_deref()),
            options,
            changed: broadcast::channel(64).0,
            touched: broadcast::channel(64).0,
            grown: AtomicUsize::new(0),
            lists: AtomicUsize::new(0),
            store,
            issues: Mutex::new(kept),
            tasks: Tasks::default(),
            task_news: broadcast::channel(64).0,
            visits: AtomicUsize::new(0),
        }
    }

    pub(crate) fn fault(&self) -> Option<&Fault> {
        self.options.fault.as_ref()
    }

    /// Fires each time the list of tools has changed.
    pub(crate) fn changes(&self) -> broadcast::Receiver<()> {
        self.changed.subscribe()
    }

    /// Fires with the address of each resource that has changed.
    pub(crate) fn touches(&self) -> broadcast::Receiver<String> {
        self.touched.subscribe()
    }

    pub(crate) fn touch(&self, uri: &str) {
        let _ = self.touched.send(uri.to_owned());
    }

    /// The names of tasks that have just changed.
    pub(crate) fn task_news(&self) -> broadcast::Receiver<String> {
        self.task_news.subscribe()
    }

    pub(crate) fn tell_task(&self, id: &str) {
        let _ = self.task_news.send(id.to_owned());
    }

    /// How many times an address was asked to be visited before.
    pub(crate) fn visited(&self) -> u64 {
        self.visits.fetch_add(1, Ordering::SeqCst) as u64
    }

    pub(crate) fn grow(&self) -> usize {
        let grown = self.grown.fetch_add(1, Ordering::SeqCst) + 1;
        let _ = self.changed.send(());
        grown
    }

    /// Keeps an issue and gives its number.
    pub(crate) fn keep_issue(&self, issue: impl FnOnce(usize) -> Value) -> usize {
        let mut issues = self.issues.lock().expect("no fixture code panics while it holds a lock");
        *issues += 1;
        self.store.line(&issue(*issues).to_string());
        *issues
    }

    pub(crate) fn grown(&self) -> usize {
        self.grown.load(Ordering::SeqCst)
    }

    /// How many times tools were listed before.
    pub(crate) fn listed(&self) -> usize {
        self.lists.fetch_add(1, Ordering::SeqCst)
    }
}

/// One message's surroundings.
#[derive(Clone, Debug)]
pub(crate) struct Exchange {
    pub(crate) server: Arc<Server>,
    pub(crate) conversation: Arc<Conversation>,
    pub(crate) outlet: Outlet,
}
