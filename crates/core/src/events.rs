//! Events of the host: a closed list, numbered, for watchers that may lag.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use schemars::JsonSchema;
use serde::Serialize;
use switchboard_wire::Json;
use tokio::sync::broadcast;

/// Maximum number of events buffered for a slow watcher. Beyond it, the watcher sees a gap.
const MAX_EVENTS: usize = 1_024;

/// An event with its sequence number.
#[derive(Clone, Debug, Serialize)]
pub struct Event {
    pub number: u64,
    #[serde(flatten)]
    pub what: EventKind,
}

/// Something that happened in the host.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
#[schemars(rename = "Happening")]
pub enum EventKind {
    /// A server's state changed.
    ServerChanged {
        /// The name of the server.
        server: String,
        /// The server's new state, as one word.
        status: String,
        /// Details of the state, such as an error.
        detail: Option<String>,
    },
    /// A new server was pinned on first use, without a person to approve it.
    ServerPinned {
        /// The name of the server.
        server: String,
        /// The server's command or URL, redacted.
        how: String,
        /// The number of pinned tools.
        tools: usize,
        /// The number of other pinned definitions.
        others: usize,
        /// The scanner's findings: definitions and rules.
        findings: Vec<String>,
    },
    /// The configuration was reloaded.
    ConfigChanged {
        /// The problems of the new configuration.
        problems: Vec<String>,
    },
    /// A server sent a log message.
    ServerSaid {
        /// The name of the server.
        server: String,
        /// The severity, in the protocol's word.
        level: String,
        /// The text of the message.
        text: String,
        /// The whole notification, unchanged.
        #[serde(skip)]
        raw: Option<Json>,
        /// The numbers of the calls that it may belong to: one if that is certain, otherwise all
        /// calls in flight on the server.
        #[serde(skip)]
        during: Vec<u64>,
    },
    /// A subscribed resource has changed.
    ResourceUpdated {
        /// The name of the server.
        server: String,
        /// The URI of the resource.
        uri: String,
    },
    /// The scanner flagged a definition.
    DefinitionFlagged {
        /// The name of the server.
        server: String,
        /// The kind of definition, such as `tool` or `prompt`.
        kind: &'static str,
        /// The name of the definition.
        name: String,
        /// The fingerprint of the definition.
        digest: String,
        /// The severity: `inform`, `ask` or `block`.
        severity: &'static str,
        /// The scanner rules that matched.
        rules: Vec<&'static str>,
    },
    /// The scanner flagged the result of a call as a possible prompt injection.
    ResultFlagged {
        /// The call's id, if the call is recorded.
        call: Option<String>,
        /// The name of the server.
        server: String,
        /// The tool, resource or prompt.
        target: String,
        /// The severity: `inform`, `ask` or `block`.
        severity: &'static str,
        /// The scanner rules that matched.
        rules: Vec<&'static str>,
    },
    /// A server was asked for notifications about a resource.
    ResourceSubscribed {
        /// The name of the server.
        server: String,
        /// The URI of the resource.
        uri: String,
        /// The reason that the subscription failed.
        problem: Option<String>,
    },
    /// A server reported a new state of a task.
    TaskChanged {
        /// The name of the server.
        server: String,
        /// The server's id of the task.
        task: String,
    },
    /// A server reported that a URL elicitation is complete.
    ElicitationComplete {
        /// The name of the server.
        server: String,
        /// The server's id of the elicitation.
        id: String,
    },
    /// A call is about to be sent.
    CallStarted {
        /// The id of the call.
        call: String,
        /// The name of the server.
        server: String,
        /// The tool, resource or prompt.
        target: String,
        /// The names of the arguments, never their values.
        argument_keys: Vec<String>,
    },
    /// A call has ended.
    CallFinished {
        /// The id of the call.
        call: String,
        /// The name of the server.
        server: String,
        /// The tool, resource or prompt.
        target: String,
        /// The kind of outcome, such as `ok`.
        outcome: String,
        /// The reason that the call did not succeed.
        message: Option<String>,
        /// The duration in milliseconds.
        milliseconds: u64,
    },
    /// A hook ran before or after a call.
    HookRan {
        /// The id of the call.
        call: String,
        /// The hook's name in its file.
        hook: String,
        /// The level of the hook's file, such as `user` or `project`.
        level: String,
        /// The hook's event: `beforeMCPExecution` or `afterMCPExecution`.
        when: String,
        /// The hook's answer as one word, or `error`.
        answer: String,
        /// The reason that the hook failed.
        problem: Option<String>,
        /// The duration in milliseconds.
        milliseconds: u64,
    },
    /// Hook files were loaded, and some of them are invalid.
    HooksRead {
        /// The problems of the hook files.
        problems: Vec<String>,
    },
    /// A desktop notification could not be shown.
    NotNotified {
        /// The reason that it failed.
        problem: String,
    },
    /// A review or question waits for a person.
    Waiting {
        /// The id in the review queue.
        id: String,
        /// The kind of entry: `review`, `form` or `url`.
        kind: String,
        /// The name of the server that it concerns.
        server: String,
        /// The tool, resource or prompt, if known.
        target: Option<String>,
        /// The id of the call, if known.
        call: Option<String>,
    },
    /// A review or question left the queue.
    Answered {
        /// The id in the review queue.
        id: String,
        /// The answer as one word, or `expired` or `withdrawn`.
        how: String,
        /// The person or face that answered.
        by: Option<String>,
    },
}

/// Emits events and hands out receivers.
///
/// There are two streams: thousands of calls may start and end per second, and most watchers wait
/// for other events. No call event is built for those watchers or wakes them.
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
        if self.all.receiver_count() + self.without_calls.receiver_count() > 0 {
            let event = Event { number, what: what() };
            // A send fails only without a receiver: one channel may have none, or have lost its
            // last one since it was counted.
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
    pub fn watch(&self) -> broadcast::Receiver<Event> {
        self.all.subscribe()
    }

    /// Watches events from now on, without the start and end of calls; their numbers are skipped.
    pub fn watch_without_calls(&self) -> broadcast::Receiver<Event> {
        self.without_calls.subscribe()
    }

    fn next_number(&self) -> u64 {
        // Numbers advance even without watchers, so that a gap always means missed events.
        // `Relaxed`, since only uniqueness matters: the channels carry the events themselves.
        self.next.fetch_add(1, Ordering::Relaxed)
    }
}
