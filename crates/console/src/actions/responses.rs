//! Responses of the API to actions.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use switchboard_oauth::LogoutReport;

/// A question of a call was answered.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AnswerTaken {
    /// The number of the question.
    pub(crate) question: u64,
    /// What was answered, in one word.
    pub(crate) answered: &'static str,
}

/// A call was given up.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CallGivenUp {
    /// Always so.
    pub(crate) given_up: bool,
}

/// A server was added.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ServerAdded {
    /// Its name here.
    pub(crate) added: String,
}

/// The entry of a server was changed.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ServerChanged {
    /// The server.
    pub(crate) changed: String,
}

/// A server was removed.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ServerRemoved {
    /// The server.
    pub(crate) removed: String,
}

/// The entry of a server was agreed to.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ServerApproved {
    /// The server.
    pub(crate) approved: String,
}

/// A server is started afresh.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ServerRestarting {
    /// The server.
    pub(crate) restarting: String,
}

/// A server was switched on or off.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ServerSwitched {
    /// The server.
    pub(crate) server: String,
    /// Whether it is on.
    pub(crate) enabled: bool,
}

/// A login has begun.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct LoginBegun {
    /// The server.
    pub(crate) server: String,
    /// The address that a person has to visit for it.
    pub(crate) url: String,
}

/// Logins were ended.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct LoggedOut {
    /// Those that there were.
    pub(crate) ended: Vec<LogoutReport>,
}

/// Definitions were approved.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PinsApproved {
    /// The server.
    pub(crate) server: String,
    /// How many.
    pub(crate) approved: usize,
}

/// The approval of a tool was taken back.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PinRevoked {
    /// The server.
    pub(crate) server: String,
    /// The tool.
    pub(crate) revoked: String,
}

/// Something that waited was answered.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ReviewAnswered {
    /// Its name in the queue.
    pub(crate) id: String,
    /// What was answered, in one word.
    pub(crate) answered: &'static str,
}

/// A conversation that was begun, or told something.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct InSession {
    /// Its name.
    pub(crate) session: String,
}

/// The page of a tool's app, ready for its frame.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AppOpened {
    /// The address of the frame, good once and for a minute.
    pub(crate) src: String,
    /// The definition of the tool.
    pub(crate) tool: Value,
    /// The places that the page may reach, out of those that it declares.
    pub(crate) csp: Value,
}

/// Whoever was signed in is not any more.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SignedOut {
    /// That it is so.
    pub(crate) signed_out: bool,
}
