//! Login errors. They never contain a token, a code or the body of a response.

use std::path::PathBuf;

use switchboard_net::BlockedAddress;

/// Why a login failed or cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoginError {
    #[error("cannot log in to server `{server}`: {why}")]
    NotForLogin { server: String, why: &'static str },
    /// The URL `place`, shown without parts that may be secret, is outside the address scope.
    #[error("{what} `{place}` is not allowed: {why}")]
    Blocked { what: &'static str, place: String, why: String },
    #[error("{what} at `{place}` {why}")]
    Failed { what: &'static str, place: String, why: String },
    /// A document violates the standard in a way that an attack could.
    #[error("{what} cannot be trusted: {why}")]
    Untrusted { what: &'static str, why: String },
    #[error("the authorization server `{issuer}` does not support dynamic client registration")]
    NoClient { issuer: String },
    #[error("the authorization server refused {what}: `{code}`")]
    Refused { what: &'static str, code: String },
    #[error("invalid login callback: {0}")]
    BadAnswer(&'static str),
    #[error("the login was not completed within {0} minutes")]
    TooLate(u64),
    #[error("no key to encrypt stored logins: {why}")]
    NoKey { why: String },
    #[error("the secret `{name}` is not set for server `{server}`")]
    NoSecret { server: String, name: String },
    #[error("the stored logins in `{}` cannot be read: {why}", .file.display())]
    Unreadable { file: PathBuf, why: String },
    #[error("the logins cannot be stored in `{}`: {why}", .file.display())]
    NotStored { file: PathBuf, why: String },
    #[error("the login has expired and cannot be renewed")]
    Over,
    #[error("the authorization page cannot be visited: {0}")]
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
                "set the key that they were stored with, or remove them with \
                 `switchboard logout --all`"
            }
            Self::NoClient { .. } => {
                "register a client there and set `oauth.clientId` for the server"
            }
            Self::NoSecret { server, name } => {
                let command = format!("switchboard secrets set {name} --server {server}");
                return Some(format!("set it with `{command}`"));
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
