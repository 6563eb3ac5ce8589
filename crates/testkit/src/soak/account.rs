//! The three accounts of what happened, as they are compared.

use std::collections::{HashMap, HashSet};

/// What a client saw of one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ClientCall {
    pub(super) server: usize,
    pub(super) tool: Box<str>,
    pub(super) end: ClientEnd,
    pub(super) microseconds: u64,
}

/// How a call ended for its client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ClientEnd {
    /// With an outcome.
    Outcome(Box<str>),
    /// The client did not wait.
    GivenUp,
    /// In a way that no call should.
    Trouble(String),
}

/// What the record says of one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RecordRow {
    pub(super) id: String,
    pub(super) server: String,
    pub(super) target: String,
    /// Nothing while it is under way.
    pub(super) outcome: Option<String>,
    /// Which call it is, by its arguments.
    pub(super) call: String,
}

/// All three.
#[derive(Debug, Default)]
pub(super) struct Accounts {
    /// What each client saw, in order.
    pub(super) clients: Vec<Vec<ClientCall>>,
    /// What the record says of each client, in any order.
    pub(super) record: Vec<Vec<RecordRow>>,
    /// Rows of nobody who called.
    pub(super) strangers: usize,
    /// Where each call arrived, by its id.
    pub(super) journals: HashMap<String, Vec<ServerArrival>>,
    /// What clients met with beside their calls.
    pub(super) trouble: Vec<String>,
    /// The servers that were killed: only their calls may be lost.
    pub(super) killed: HashSet<usize>,
}

/// A call as a server noted it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ServerArrival {
    pub(super) server: usize,
    pub(super) tool: Box<str>,
}
