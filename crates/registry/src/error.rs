//! What goes wrong with a registry or with what it says.

use thiserror::Error;

/// Why a registry did not help.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RegistryError {
    /// The address of the registry cannot be used.
    #[error("`{address}` is no address of a registry: {why}")]
    BadAddress {
        /// The address, without what may be secret in it.
        address: String,
        /// What is wrong with it.
        why: String,
    },
    /// It cannot be reached, and nothing is kept of what it said before.
    #[error("the registry at `{registry}` cannot be reached: {cause}")]
    Unreachable { registry: String, cause: String },
    /// It answered with something else than what was asked for.
    #[error("the registry at `{registry}` answers with {status}")]
    Refused {
        registry: String,
        /// The status of its answer.
        status: u16,
    },
    /// It sends us somewhere else.
    #[error("the registry at `{registry}` leads to another place, which is not followed")]
    LeadsElsewhere { registry: String },
    /// Its answer is too long.
    #[error("the answer of the registry at `{registry}` is longer than {limit_bytes} bytes")]
    TooLong {
        registry: String,
        /// The longest answer that is read.
        limit_bytes: usize,
    },
    /// Its answer cannot be understood.
    #[error("the answer of the registry at `{registry}` cannot be read: {why}")]
    Unreadable { registry: String, why: String },
    /// It does not know the server.
    #[error("the registry has no server `{name}`{}", version_suffix(.version.as_deref()))]
    Unknown {
        /// The name of the server.
        name: String,
        /// The version that was asked for.
        version: Option<String>,
    },
    /// A name that no server can have.
    #[error("`{0}` is no name of a server in a registry")]
    BadName(String),
}

impl RegistryError {
    /// What to do next.
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
