//! What goes wrong with tokens and with the keys of an issuer.

use std::io;
use std::path::PathBuf;

/// Why tokens cannot be kept, or an issuer cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The file of tokens cannot be read or written.
    #[error("the tokens in `{}` cannot be used: {cause}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What happened.
        cause: io::Error,
    },
    /// The file of tokens is damaged.
    #[error("the tokens in `{}` cannot be read: {cause}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        cause: serde_json::Error,
    },
    /// A name that cannot be one.
    #[error("`{0}` cannot be the name of a token")]
    BadName(String),
    /// There is one of that name.
    #[error("there is a token `{0}` already")]
    Exists(String),
    /// There is none of that name.
    #[error("there is no token `{0}`")]
    Unknown(String),
    /// The system gives no random numbers.
    #[error("the system gives no random numbers")]
    NoRandomness,
    /// An address of an issuer, its keys or ourselves that is not safe to use.
    #[error("`{0}` cannot be used: only `https`, or `http` on this machine")]
    Address(String),
    /// A word that cannot be a scope.
    #[error("`{0}` cannot be a scope")]
    BadScope(String),
    /// No HTTP client for an issuer.
    #[error("the issuer cannot be asked: {0}")]
    NoClient(String),
}

impl KeyError {
    /// What to do next, if there is something.
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
