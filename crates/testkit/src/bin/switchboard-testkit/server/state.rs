//! The state of one fixture process and what a message is handled with.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::broadcast;

use crate::conversation::Conversation;
use crate::emission::Outlet;
use crate::faults::Fault;
use crate::journal::Journal;
use crate::options::Options;

#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) options: Options,
    pub(crate) journal: Journal,
    pub(crate) trace: Journal,
    changed: broadcast::Sender<()>,
    grown: AtomicUsize,
    lists: AtomicUsize,
}

impl Server {
    pub(crate) fn new(options: Options) -> Self {
        Self {
            journal: Journal::open(options.journal.as_deref()),
            trace: Journal::open(options.trace.as_deref()),
            options,
            changed: broadcast::channel(64).0,
            grown: AtomicUsize::new(0),
            lists: AtomicUsize::new(0),
        }
    }

    pub(crate) fn fault(&self) -> Option<&Fault> {
        self.options.fault.as_ref()
    }

    /// Fires each time the list of tools has changed.
    pub(crate) fn changes(&self) -> broadcast::Receiver<()> {
        self.changed.subscribe()
    }

    pub(crate) fn grow(&self) -> usize {
        let grown = self.grown.fetch_add(1, Ordering::SeqCst) + 1;
        let _ = self.changed.send(());
        grown
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
