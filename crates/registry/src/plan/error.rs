//! Errors while planning an installation.

use thiserror::Error;

/// Why a package or remote cannot be installed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PlanError {
    /// The version is missing, a range or a floating tag.
    #[error("the package `{package}` has no exact version{}", version_text(.version.as_deref()))]
    NotPinned {
        package: String,
        /// The text given as version.
        version: Option<String>,
    },
    /// There is no runner for this kind of package.
    #[error("packages of the kind `{0}` cannot be run from here")]
    NoRunner(String),
    /// The identifier is not a valid package name.
    #[error("`{0}` is no package of that kind")]
    BadPackage(String),
    /// The package serves over the network instead of standard input and output.
    #[error("the package `{0}` is a program that listens by itself")]
    Listens(String),
    /// An argument for the runner could load other code than the package.
    #[error("the argument `{0}` for what runs the package is not taken from a registry")]
    RunnerArgument(String),
    /// A value that no legitimate server needs.
    #[error("{what} {why}")]
    Hostile {
        what: String,
        /// The problem, as a predicate that follows `what`.
        why: String,
    },
    /// A required answer is missing.
    #[error("`{0}` is needed and has no value")]
    Missing(String),
    /// An answer is invalid.
    #[error("`{name}` {why}")]
    DoesNotFit {
        /// The name of the question.
        name: String,
        /// The problem with the answer.
        why: String,
    },
    /// An answer without a question.
    #[error("nothing asks for `{0}`")]
    NotAsked(String),
    /// A bundle without a digest to verify it.
    #[error("the bundle `{0}` has no SHA-256 to check it by")]
    NoDigest(String),
}

impl PlanError {
    /// Returns the remedy, if one is known.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NotPinned { .. } => Some(
                "choose a version by hand and add it with `switchboard servers add`".to_owned(),
            ),
            Self::NoRunner(_) | Self::RunnerArgument(_) => {
                Some("install it by hand, then `switchboard servers add`".to_owned())
            }
            Self::Listens(_) => Some(
                "start it by hand, then `switchboard servers add NAME URL` with its address"
                    .to_owned(),
            ),
            Self::Missing(name) => Some(format!("give it with `--set {name}=VALUE`")),
            Self::BadPackage(_)
            | Self::Hostile { .. }
            | Self::DoesNotFit { .. }
            | Self::NotAsked(_)
            | Self::NoDigest(_) => None,
        }
    }
}

fn version_text(version: Option<&str>) -> String {
    version.map(|version| format!(", but `{version}`")).unwrap_or_default()
}
