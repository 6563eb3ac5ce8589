//! Errors of the token file and of the issuer's settings.

use std::io;
use std::path::PathBuf;

/// Why tokens cannot be stored, or an issuer cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    #[error("cannot access the token file `{}`: {cause}", path.display())]
    File { path: PathBuf, cause: io::Error },
    #[error("invalid token file `{}`: {cause}", path.display())]
    Damaged { path: PathBuf, cause: serde_json::Error },
    #[error("invalid token name `{0}`")]
    BadName(String),
    #[error("a token named `{0}` already exists")]
    Exists(String),
    #[error("no token named `{0}`")]
    Unknown(String),
    #[error("the operating system returned no random bytes")]
    NoRandomness,
    /// A URL of the issuer, its keys or this gateway that could be changed in transit.
    #[error("unsafe URL `{0}`: use `https`, or `http` on this machine")]
    Address(String),
    #[error("invalid scope `{0}`")]
    BadScope(String),
    #[error("cannot create the HTTP client for the issuer: {0}")]
    NoClient(String),
}

impl KeyError {
    /// Returns the remedy, if one is known.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::BadName(_) => Some("use up to 64 letters, digits, `.`, `_` and `-`"),
            Self::Exists(_) => Some("revoke it with `switchboard tokens revoke` first"),
            Self::Unknown(_) => Some("list the tokens with `switchboard tokens list`"),
            Self::Damaged { .. } => Some("remove the file and add the tokens again"),
            Self::File { .. }
            | Self::NoRandomness
            | Self::Address(_)
            | Self::BadScope(_)
            | Self::NoClient(_) => None,
        }
    }
}
