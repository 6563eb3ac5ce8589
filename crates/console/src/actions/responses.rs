//! Responses of the API to actions.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use switchboard_oauth::LogoutReport;

/// Confirms the answer to a question of a call.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AnswerTaken {
    /// Number of the question.
    pub(crate) question: u64,
    /// Answer in one word.
    pub(crate) answered: &'static str,
}

/// Confirms that a call was cancelled.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CallGivenUp {
    /// Always `true` in this response.
    pub(crate) given_up: bool,
}

/// Confirms that a server was added.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ServerAdded {
    /// Name of the new server.
    pub(crate) added: String,
}

/// Confirms that a server's entry was changed.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ServerChanged {
    /// Name of the server.
    pub(crate) changed: String,
}

/// Confirms that a server was removed.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ServerRemoved {
    /// Name of the server.
    pub(crate) removed: String,
}

/// Confirms the approval of a server's entry.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ServerApproved {
    /// Name of the server.
    pub(crate) approved: String,
}

/// Confirms that a server is restarting.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ServerRestarting {
    /// Name of the server.
    pub(crate) restarting: String,
}

/// Confirms that a server was enabled or disabled.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ServerSwitched {
    /// Name of the server.
    pub(crate) server: String,
    /// Whether the server is enabled.
    pub(crate) enabled: bool,
}

/// A login that waits for the user.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct LoginBegun {
    /// Name of the server.
    pub(crate) server: String,
    /// Authorization URL that the user must visit.
    pub(crate) url: String,
}

/// Confirms a logout from servers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct LoggedOut {
    /// Logins that were deleted.
    pub(crate) ended: Vec<LogoutReport>,
}

/// Confirms the approval of definitions.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PinsApproved {
    /// Name of the server.
    pub(crate) server: String,
    /// Number of approved definitions.
    pub(crate) approved: usize,
}

/// Confirms that the approval of a tool was revoked.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PinRevoked {
    /// Name of the server.
    pub(crate) server: String,
    /// Name of the tool on its server.
    pub(crate) revoked: String,
}

/// Confirms the answer to a review queue entry.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ReviewAnswered {
    /// Id of the entry in the review queue.
    pub(crate) id: String,
    /// Answer in one word.
    pub(crate) answered: &'static str,
}

/// The conversation that the request started or continued.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct InSession {
    /// Id of the conversation.
    pub(crate) session: String,
}

/// The page of a tool's app, ready for its frame.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AppOpened {
    /// URL of the frame; works once, within a minute.
    pub(crate) src: String,
    /// Definition of the tool.
    pub(crate) tool: Value,
    /// Declared origins that the page may reach.
    pub(crate) csp: Value,
}

/// Confirms that the browser is signed out.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SignedOut {
    /// Always `true` in this response.
    pub(crate) signed_out: bool,
}
