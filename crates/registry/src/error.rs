//! Errors of registries and their responses.

use thiserror::Error;

/// Why a query to a registry failed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RegistryError {
    /// `address` has no query, which may contain secrets.
    #[error("invalid registry address `{address}`: {why}")]
    BadAddress { address: String, why: String },
    #[error("cannot reach the registry at `{registry}`: {cause}")]
    Unreachable { registry: String, cause: String },
    #[error("the registry at `{registry}` responded with HTTP {status}")]
    Refused { registry: String, status: u16 },
    #[error("the registry at `{registry}` redirects to another origin")]
    LeadsElsewhere { registry: String },
    #[error("the response of the registry at `{registry}` exceeds {limit_bytes} bytes")]
    TooLong { registry: String, limit_bytes: usize },
    #[error("the registry at `{registry}` sent an invalid response: {why}")]
    Unreadable { registry: String, why: String },
    #[error("the registry has no server named `{name}`{}", version_suffix(.version.as_deref()))]
    Unknown { name: String, version: Option<String> },
    #[error("invalid server name `{0}`")]
    BadName(String),
}

impl RegistryError {
    /// Returns the remedy, if one is known.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::BadAddress { .. } => Some("write `https://registry.example`"),
            Self::Unreachable { .. } => {
                Some("check the network, or choose another registry with `--registry`")
            }
            Self::LeadsElsewhere { .. } => {
                Some("if you trust the target, pass it with `--registry`")
            }
            Self::Unknown { .. } => Some("search by keyword with `switchboard registry search`"),
            Self::BadName(_) => Some("names look like `io.github.owner/server`"),
            Self::Refused { .. } | Self::TooLong { .. } | Self::Unreadable { .. } => None,
        }
    }
}

fn version_suffix(version: Option<&str>) -> String {
    version.map(|version| format!(" in version `{version}`")).unwrap_or_default()
}
