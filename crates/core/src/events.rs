//! Events of the host: a closed list, numbered, for watchers that may lag.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use schemars::JsonSchema;
use serde::Serialize;
use switchboard_wire::Json;
use tokio::sync::broadcast;

/// Maximum number of events buffered for a slow watcher; it misses older ones and sees a gap in the
/// numbers.
const MAX_EVENTS: usize = 1_024;

/// A numbered event.
#[derive(Clone, Debug, Serialize)]
pub struct Event {
    /// The sequence number.
    pub number: u64,
    #[serde(flatten)]
    pub what: EventKind,
}

/// What can happen.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
#[schemars(rename = "Happening")]
pub enum EventKind {
    /// A server's state changed.
    ServerChanged {
        /// Which server.
        server: String,
        /// Its state in one word.
        status: String,
        /// More about it.
        detail: Option<String>,
    },
    /// A new server was pinned as it is, because nobody was there to be asked about it.
    ServerPinned {
        /// Which server.
        server: String,
        /// What it runs or where it is, without secrets.
        how: String,
        /// How many tools were pinned.
        tools: usize,
        /// How many other definitions were pinned.
        others: usize,
        /// What the scanner found: names and rules.
        findings: Vec<String>,
    },
    /// The configuration was read again.
    ConfigChanged {
        /// What is wrong with it, if anything is.
        problems: Vec<String>,
    },
    /// A server said something unasked.
    ServerSaid {
        /// Which server.
        server: String,
        /// How serious it is.
        level: String,
        /// What it said.
        text: String,
        /// The whole of it, as it came.
        #[serde(skip)]
        raw: Option<Json>,
        /// The numbers of the calls that it may be about: of one where that is certain, of all that
        /// are under way there, or of none.
        #[serde(skip)]
        during: Vec<u64>,
    },
    /// A resource that somebody wants to hear about has changed.
    ResourceUpdated {
        /// Which server.
        server: String,
        /// The address of the resource.
        uri: String,
    },
    /// The scanner found something in a definition.
    DefinitionFlagged {
        /// Which server.
        server: String,
        /// What the definition describes: a tool, a prompt.
        kind: &'static str,
        /// Its name.
        name: String,
        /// The fingerprint of the definition.
        digest: String,
        /// How serious it is: `inform`, `ask` or `block`.
        severity: &'static str,
        /// The rules that found something.
        rules: Vec<&'static str>,
    },
    /// The result of a call tries something on the model that gets it.
    ResultFlagged {
        /// The call's id, where it is recorded.
        call: Option<String>,
        /// Which server.
        server: String,
        /// What was called there.
        target: String,
        /// How serious it is: `inform`, `ask` or `block`.
        severity: &'static str,
        /// The rules that found something.
        rules: Vec<&'static str>,
    },
    /// A server was asked to tell of a resource's changes.
    ResourceSubscribed {
        /// Which server.
        server: String,
        /// The address of the resource.
        uri: String,
        /// Why it does not, if it does not.
        problem: Option<String>,
    },
    /// A server tells by itself that a task is not as it was.
    TaskChanged {
        /// Which server.
        server: String,
        /// The server's name for the task.
        task: String,
    },
    /// What a server asked a person to do at an address is done, it says.
    ElicitationComplete {
        /// Which server.
        server: String,
        /// The server's name for the question.
        id: String,
    },
    /// A call is about to leave us.
    CallStarted {
        /// The call's id.
        call: String,
        /// Which server.
        server: String,
        /// What is called there.
        target: String,
        /// The names of the arguments, never their values.
        argument_keys: Vec<String>,
    },
    /// A call has ended.
    CallFinished {
        /// The call's id.
        call: String,
        /// Which server.
        server: String,
        /// What was called there.
        target: String,
        /// How it ended.
        outcome: String,
        /// Why, if it did not end well.
        message: Option<String>,
        /// How long it took.
        milliseconds: u64,
    },
    /// A hook was asked before a call or told after it.
    HookRan {
        /// The call's id.
        call: String,
        /// The hook, as its file names it.
        hook: String,
        /// Whose hook it is.
        level: String,
        /// `beforeMCPExecution` or `afterMCPExecution`.
        when: String,
        /// What it answered, in one word; or `error`.
        answer: String,
        /// What went wrong with it.
        problem: Option<String>,
        /// How long it took.
        milliseconds: u64,
    },
    /// Files of hooks were read, and not all of them count.
    HooksRead {
        /// Why not.
        problems: Vec<String>,
    },
    /// A desktop notification could not be shown.
    NotNotified {
        /// Why not.
        problem: String,
    },
    /// Something waits for a person.
    Waiting {
        /// Its name in the queue.
        id: String,
        /// What it is, in one word: `review`, `form`, `url`.
        kind: String,
        /// Which server it is about.
        server: String,
        /// What is called there, where that is known.
        target: Option<String>,
        /// The call's id, where that is known.
        call: Option<String>,
    },
    /// Something does not wait for a person any more.
    Answered {
        /// Its name in the queue.
        id: String,
        /// What was answered, in one word; or `expired`, or `withdrawn`.
        how: String,
        /// Who answered.
        by: Option<String>,
    },
}

/// Emits events and hands out receivers.
///
/// There are two streams, because thousands of calls may start and end per second and most watchers
/// wait for other events. For those, no call event is built, and none wakes them.
#[derive(Clone, Debug)]
pub struct Events {
    next: Arc<AtomicU64>,
    all: broadcast::Sender<Event>,
    without_calls: broadcast::Sender<Event>,
}

impl Default for Events {
    fn default() -> Self {
        let sender = || broadcast::Sender::new(MAX_EVENTS);
        Self { next: Arc::default(), all: sender(), without_calls: sender() }
    }
}

impl Events {
    /// Emits an event to all watchers. `what` runs only if there is a watcher.
    pub fn emit(&self, what: impl FnOnce() -> EventKind) {
        let number = self.next_number();
        let some = self.all.receiver_count() > 0;
        let few = self.without_calls.receiver_count() > 0;
        if some || few {
            let event = Event { number, what: what() };
            // One of the channels may have no receiver, or have lost its last one since.
            _ = self.without_calls.send(event.clone());
            _ = self.all.send(event);
        }
    }

    /// Emits the start or end of a call to watchers of all events.
    pub fn emit_call(&self, what: impl FnOnce() -> EventKind) {
        let number = self.next_number();
        if self.all.receiver_count() > 0 {
            // The last receiver may have been dropped since it was counted.
            _ = self.all.send(Event { number, what: what() });
        }
    }

    /// Watches all events from now on.
    #[must_use]
    pub fn watch(&self) -> broadcast::Receiver<Event> {
        self.all.subscribe()
    }

    /// Watches events from now on, except for the start and end of calls, whose numbers are
    /// skipped.
    #[must_use]
    pub fn watch_without_calls(&self) -> broadcast::Receiver<Event> {
        self.without_calls.subscribe()
    }

    /// Returns the next number. Numbers advance even without watchers, so that a gap always means
    /// missed events.
    fn next_number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }
}
