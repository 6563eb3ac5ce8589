//! What a scripted model says: its turns, and what goes wrong with them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::Value;

#[derive(Debug)]
pub(crate) struct FixtureScript {
    pub(crate) order: FixtureTurnOrder,
    pub(crate) turns: Vec<FixtureTurn>,
}

/// How the turn that answers a request is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FixtureTurnOrder {
    /// By the number of the model's messages in the request.
    History,
    /// One turn after the other.
    Sequence,
}

#[derive(Debug)]
pub(crate) struct FixtureTurn {
    pub(crate) expect: Vec<String>,
    pub(crate) captures: Vec<FixtureCapture>,
    pub(crate) thinking: Option<String>,
    pub(crate) text: Option<String>,
    pub(crate) calls: Vec<FixtureCall>,
    pub(crate) stop: FixtureStop,
    pub(crate) usage: Option<FixtureUsage>,
    /// Characters per streamed piece.
    pub(crate) chunk: usize,
    /// The pause before each piece.
    pub(crate) delay: Duration,
    pub(crate) fault: Option<TurnFault>,
}

/// A text to remember from the newest message.
#[derive(Debug)]
pub(crate) struct FixtureCapture {
    pub(crate) name: String,
    pub(crate) after: String,
    /// Without it the rest of the message is taken.
    pub(crate) before: Option<String>,
}

impl FixtureCapture {
    pub(crate) fn find<'a>(&self, message: &'a str) -> Option<&'a str> {
        let (_, rest) = message.split_once(&self.after)?;
        match &self.before {
            Some(before) => rest.split_once(before).map(|(found, _)| found),
            None => Some(rest),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FixtureCall {
    pub(crate) name: String,
    pub(crate) arguments: Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FixtureStop {
    End,
    Calls,
    Length,
    Refused,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FixtureUsage {
    /// With what came from a cache.
    pub(crate) input: u64,
    pub(crate) output: u64,
    pub(crate) cached: u64,
}

#[derive(Debug)]
pub(crate) struct TurnFault {
    pub(crate) kind: FaultKind,
    /// How many strikes there are; always when absent.
    pub(crate) times: Option<u64>,
    pub(crate) struck: AtomicU64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FaultKind {
    Status {
        status: u16,
        retry_after: Option<String>,
        body: Option<String>,
    },
    /// The connection is closed after so many events.
    Cut(usize),
    /// An event that is no JSON comes after so many events.
    Malformed(usize),
    /// Nothing more comes after so many events.
    Silent(usize),
    /// The vendor's error comes as an event after so many events, and the stream ends.
    Error(usize),
    /// A page for people, with status 200.
    Html,
}

impl TurnFault {
    /// Counts a strike, and says whether it happens.
    pub(crate) fn strikes(&self) -> bool {
        let before = self.struck.fetch_add(1, Ordering::SeqCst);
        self.times.is_none_or(|times| before < times)
    }
}
