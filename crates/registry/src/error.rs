//! Errors of registries and their responses.

use thiserror::Error;

/// Why a query to a registry failed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RegistryError {
    /// The address of the registry is invalid.
    #[error("`{address}` is no address of a registry: {why}")]
    BadAddress {
        /// The address, without its query, which may contain secrets.
        address: String,
        why: String,
    },
    /// The registry is unreachable, and nothing is cached.
    #[error("the registry at `{registry}` cannot be reached: {cause}")]
    Unreachable { registry: String, cause: String },
    /// The registry answered with an error status.
    #[error("the registry at `{registry}` answers with {status}")]
    Refused {
        registry: String,
        /// The HTTP status.
        status: u16,
    },
    /// The registry redirected to another origin.
    #[error("the registry at `{registry}` leads to another place, which is not followed")]
    LeadsElsewhere { registry: String },
    /// The response exceeds the size limit.
    #[error("the answer of the registry at `{registry}` is longer than {limit_bytes} bytes")]
    TooLong {
        registry: String,
        /// The size limit, in bytes.
        limit_bytes: usize,
    },
    /// The response cannot be parsed.
    #[error("the answer of the registry at `{registry}` cannot be read: {why}")]
    Unreadable { registry: String, why: String },
    /// The registry has no such server.
    #[error("the registry has no server `{name}`{}", version_suffix(.version.as_deref()))]
    Unknown {
        name: String,
        /// The requested version.
        version: Option<String>,
    },
    /// The name is not a valid server name.
    #[error("`{0}` is no name of a server in a registry")]
    BadName(String),
}

impl RegistryError {
    /// Returns the remedy, if one is known.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::BadAddress { .. } => Some("write `https://registry.example`"),
            Self::Unreachable { .. } => {
                Some("look at the network, or name another one with `--registry`")
            }
            Self::LeadsElsewhere { .. } => {
                Some("if you trust that place, name it with `--registry`")
            }
            Self::Unknown { .. } => Some("`switchboard registry search` finds servers by words"),
            Self::BadName(_) => Some("names look like `io.github.owner/server`"),
            Self::Refused { .. } | Self::TooLong { .. } | Self::Unreadable { .. } => None,
        }
    }
}

fn version_suffix(version: Option<&str>) -> String {
    version.map(|version| format!(" of version `{version}`")).unwrap_or_default()
}
