//! The state of one fixture process and what a message is handled with.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::sync::broadcast;

use crate::conversation::FixtureConversation;
use crate::emission::Outlet;
use crate::faults::Fault;
use crate::journal::FixtureJournal;
use crate::options::FixtureOptions;
use crate::server::tasks::FixtureTasks;

#[derive(Debug)]
pub(crate) struct FixtureServer {
    pub(crate) options: FixtureOptions,
    pub(crate) journal: FixtureJournal,
    pub(crate) trace: FixtureJournal,
    changed: broadcast::Sender<()>,
    touched: broadcast::Sender<String>,
    grown: AtomicUsize,
    lists: AtomicUsize,
    store: FixtureJournal,
    /// How many issues there are.
    issues: Mutex<usize>,
    pub(crate) tasks: FixtureTasks,
    task_news: broadcast::Sender<String>,
    visits: AtomicUsize,
}

impl FixtureServer {
    pub(crate) fn new(options: FixtureOptions) -> Self {
        let kept = options.store.as_ref().and_then(|path| std::fs::read_to_string(path).ok());
        let kept = kept.map_or(0, |text| text.lines().count());
        let store = FixtureJournal::open(options.store.as_deref());
        Self {
            journal: FixtureJournal::open(options.journal.as_deref()),
            trace: FixtureJournal::open(options.trace.as_deref()),
            options,
            changed: broadcast::channel(64).0,
            touched: broadcast::channel(64).0,
            grown: AtomicUsize::new(0),
            lists: AtomicUsize::new(0),
            store,
            issues: Mutex::new(kept),
            tasks: FixtureTasks::default(),
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

    pub(crate) fn announce_task(&self, id: &str) {
        let _ = self.task_news.send(id.to_owned());
    }

    /// How many times an address was asked to be visited before.
    pub(crate) fn count_visit(&self) -> u64 {
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
    pub(crate) fn count_listing(&self) -> usize {
        self.lists.fetch_add(1, Ordering::SeqCst)
    }
}

/// One message's surroundings.
#[derive(Clone, Debug)]
pub(crate) struct Exchange {
    pub(crate) server: Arc<FixtureServer>,
    pub(crate) conversation: Arc<FixtureConversation>,
    pub(crate) outlet: Outlet,
}
