//! Login errors. They never contain a token, a code or the body of a response.

use std::path::PathBuf;

use switchboard_net::BlockedAddress;

/// The reason why there is no login.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoginError {
    /// The server does not support logins.
    #[error("server `{server}` cannot be logged in to: {why}")]
    NotForLogin { server: String, why: &'static str },
    /// The URL is not allowed.
    #[error("{what} `{place}` is not visited: {why}")]
    Blocked {
        what: &'static str,
        /// The URL without parts that may be secret.
        place: String,
        why: String,
    },
    /// A request failed.
    #[error("{what} at `{place}` {why}")]
    Failed {
        what: &'static str,
        /// The URL without parts that may be secret.
        place: String,
        why: String,
    },
    /// A document violates the standard.
    #[error("{what} cannot be trusted: {why}")]
    Untrusted {
        what: &'static str,
        /// The violated rule.
        why: String,
    },
    /// There is no client, and the authorization server does not register clients dynamically.
    #[error("the authorization server `{issuer}` does not register clients by itself")]
    NoClient { issuer: String },
    /// The authorization server rejected the request.
    #[error("the authorization server refused{}: `{code}`", about(.what))]
    Refused {
        what: &'static str,
        /// The error code.
        code: String,
    },
    /// The callback does not belong to this login.
    #[error("the answer from the browser does not count: {0}")]
    BadAnswer(&'static str),
    /// The login was not completed in time.
    #[error("nobody answered within {0} minutes")]
    TooLate(u64),
    /// No key to seal the tokens with is available.
    #[error("there is no key to keep logins with: {why}")]
    NoKey { why: String },
    /// The entry refers to a secret that is not stored for its server.
    #[error("the secret `{name}` is not set for server `{server}`")]
    NoSecret { server: String, name: String },
    /// The store cannot be opened with the available key.
    #[error("the stored logins in `{}` cannot be read: {why}", .file.display())]
    Unreadable { file: PathBuf, why: String },
    #[error("the logins cannot be stored in `{}`: {why}", .file.display())]
    NotStored { file: PathBuf, why: String },
    /// The login has expired and cannot be renewed.
    #[error("the login is over")]
    Over,
    /// The visitor could not open the authorization page.
    #[error("the authorization page was not visited: {0}")]
    NotVisited(String),
}

impl LoginError {
    /// Returns a hint for the next step.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::NoKey { .. } => {
                "set the variable `SWITCHBOARD_TOKEN_KEY` or `settings.tokenKeyFile`, or make the \
                 system's keyring available"
            }
            Self::Unreadable { .. } => {
                "set the key that they were stored with, or forget them with \
                 `switchboard logout --all`"
            }
            Self::NoClient { .. } => {
                "register a client there and set `oauth.clientId` for the server"
            }
            Self::NoSecret { server, name } => {
                return Some(format!("`switchboard secrets set {name} --server {server}`"));
            }
            Self::TooLate(_) | Self::BadAnswer(_) => "log in again",
            Self::NotForLogin { .. }
            | Self::Blocked { .. }
            | Self::Failed { .. }
            | Self::Untrusted { .. }
            | Self::Refused { .. }
            | Self::NotStored { .. }
            | Self::Over
            | Self::NotVisited(_) => return None,
        };
        Some(hint.to_owned())
    }
}

impl From<BlockedAddress> for LoginError {
    fn from(blocked: BlockedAddress) -> Self {
        let BlockedAddress { what, place, why } = blocked;
        Self::Blocked { what, place, why }
    }
}

fn about(what: &str) -> String {
    if what.is_empty() { String::new() } else { format!(" {what}") }
}
