//! Why there is no login; never with a token, a code or the body of an answer in it.

use std::path::PathBuf;

use switchboard_net::BlockedAddress;

/// Why there is no login.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoginError {
    /// The server is not one to log in to.
    #[error("server `{server}` cannot be logged in to: {why}")]
    NotForLogin { server: String, why: &'static str },
    /// An address that must not be visited.
    #[error("{what} `{place}` is not visited: {why}")]
    Blocked {
        what: &'static str,
        /// The address, without what may be secret in it.
        place: String,
        /// What is wrong with it.
        why: String,
    },
    /// Something did not answer, or not well.
    #[error("{what} at `{place}` {why}")]
    Failed {
        what: &'static str,
        /// Its address, without what may be secret in it.
        place: String,
        why: String,
    },
    /// What a document says breaks a rule.
    #[error("{what} cannot be trusted: {why}")]
    Untrusted {
        what: &'static str,
        /// The rule and how it is broken.
        why: String,
    },
    /// Nobody told the authorization server who we are.
    #[error("the authorization server `{issuer}` does not register clients by itself")]
    NoClient { issuer: String },
    /// The authorization server said no.
    #[error("the authorization server refused{}: `{code}`", about(.what))]
    Refused {
        what: &'static str,
        /// Its code for the reason.
        code: String,
    },
    /// The answer from the browser is not the one that is waited for.
    #[error("the answer from the browser does not count: {0}")]
    BadAnswer(&'static str),
    /// It took too long.
    #[error("nobody answered within {0} minutes")]
    TooLate(u64),
    /// Tokens cannot be kept: there is no key to seal them with.
    #[error("there is no key to keep logins with: {why}")]
    NoKey { why: String },
    /// The entry refers to a secret that is not kept for its server.
    #[error("the secret `{name}` is not set for server `{server}`")]
    NoSecret { server: String, name: String },
    /// The store cannot be opened with the key that is there.
    #[error("the stored logins in `{}` cannot be read: {why}", .file.display())]
    Unreadable { file: PathBuf, why: String },
    /// The store cannot be written.
    #[error("the logins cannot be stored in `{}`: {why}", .file.display())]
    NotStored { file: PathBuf, why: String },
    /// The login is over and cannot be renewed.
    #[error("the login is over")]
    Over,
    /// Whoever visits addresses for us could not.
    #[error("the authorization page was not visited: {0}")]
    NotVisited(String),
}

impl LoginError {
    /// What to do about it.
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
