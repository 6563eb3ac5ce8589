//! Errors of the token file and of the issuer's settings.

use std::io;
use std::path::PathBuf;

/// Why tokens cannot be stored, or an issuer cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    #[error("the tokens in `{}` cannot be used: {cause}", path.display())]
    File { path: PathBuf, cause: io::Error },
    #[error("the tokens in `{}` cannot be read: {cause}", path.display())]
    Damaged { path: PathBuf, cause: serde_json::Error },
    #[error("`{0}` cannot be the name of a token")]
    BadName(String),
    #[error("there is a token `{0}` already")]
    Exists(String),
    #[error("there is no token `{0}`")]
    Unknown(String),
    #[error("the system gives no random numbers")]
    NoRandomness,
    /// A URL of the issuer, of its keys or of this gateway is not safe to use.
    #[error("`{0}` cannot be used: only `https`, or `http` on this machine")]
    Address(String),
    #[error("`{0}` cannot be a scope")]
    BadScope(String),
    #[error("the issuer cannot be asked: {0}")]
    NoClient(String),
}

impl KeyError {
    /// Returns the remedy, if there is one.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::BadName(_) => Some("up to 64 letters, digits, `.`, `_` and `-`"),
            Self::Exists(_) => Some("`switchboard tokens revoke` takes it back"),
            Self::Unknown(_) => Some("`switchboard tokens list` lists them"),
            Self::Damaged { .. } => Some("remove the file and add the tokens again"),
            Self::File { .. }
            | Self::NoRandomness
            | Self::Address(_)
            | Self::BadScope(_)
            | Self::NoClient(_) => None,
        }
    }
}
