//! Errors while planning an installation.

use thiserror::Error;

/// Why a package or remote cannot be installed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PlanError {
    /// The version is missing, a range or a floating tag.
    #[error("the package `{package}` has no exact version{}", version_text(.version.as_deref()))]
    NotPinned { package: String, version: Option<String> },
    #[error("type `{0}` is not supported")]
    NoRunner(String),
    #[error("invalid package name `{0}`")]
    BadPackage(String),
    #[error("the package `{0}` serves HTTP and cannot be run over stdio")]
    Listens(String),
    /// An argument for the runner could load other code than the package.
    #[error("the runner option `{0}` is not allowed from a registry")]
    RunnerArgument(String),
    /// A value that no legitimate server needs; `why` is a predicate that follows `what`.
    #[error("{what} {why}")]
    Hostile { what: String, why: String },
    #[error("`{0}` is required but has no value")]
    Missing(String),
    /// An invalid answer; `why` is a predicate that follows the name of the question.
    #[error("`{name}` {why}")]
    DoesNotFit { name: String, why: String },
    #[error("unknown setting `{0}`")]
    NotAsked(String),
    #[error("the bundle `{0}` has no SHA-256 digest to verify it")]
    NoDigest(String),
}

impl PlanError {
    /// Returns the remedy, if one is known.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NotPinned { .. } => {
                Some("choose a version and add it with `switchboard servers add`".to_owned())
            }
            Self::NoRunner(_) | Self::RunnerArgument(_) => {
                Some("install it yourself, then run `switchboard servers add`".to_owned())
            }
            Self::Listens(_) => {
                Some("start it yourself, then run `switchboard servers add NAME URL`".to_owned())
            }
            Self::Missing(name) => Some(format!("set it with `--set {name}=VALUE`")),
            Self::BadPackage(_)
            | Self::Hostile { .. }
            | Self::DoesNotFit { .. }
            | Self::NotAsked(_)
            | Self::NoDigest(_) => None,
        }
    }
}

fn version_text(version: Option<&str>) -> String {
    version.map(|version| format!(", only `{version}`")).unwrap_or_default()
}
