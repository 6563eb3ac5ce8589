//! Why no plan can be made of what a registry or a bundle says.

use thiserror::Error;

/// Why something is not run.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PlanError {
    /// The version is missing, a range or a word.
    #[error("the package `{package}` has no exact version{}", version_text(.version.as_deref()))]
    NotPinned {
        package: String,
        /// What stands in place of a version.
        version: Option<String>,
    },
    /// A kind of package that nothing here runs.
    #[error("packages of the kind `{0}` cannot be run from here")]
    NoRunner(String),
    /// The package is no name of its kind.
    #[error("`{0}` is no package of that kind")]
    BadPackage(String),
    /// It is reached over a network that it opens itself.
    #[error("the package `{0}` is a program that listens by itself")]
    Listens(String),
    /// Its runner would take something else along.
    #[error("the argument `{0}` for what runs the package is not taken from a registry")]
    RunnerArgument(String),
    /// A value that belongs nowhere.
    #[error("{what} {why}")]
    Hostile {
        what: String,
        /// What is wrong with it.
        why: String,
    },
    /// An answer is missing.
    #[error("`{0}` is needed and has no value")]
    Missing(String),
    /// An answer does not fit.
    #[error("`{name}` {why}")]
    DoesNotFit {
        /// What was asked for.
        name: String,
        /// What is wrong with the answer.
        why: String,
    },
    /// An answer to something that was not asked.
    #[error("nothing asks for `{0}`")]
    NotAsked(String),
    /// The file of a bundle has no digest to check it by.
    #[error("the bundle `{0}` has no SHA-256 to check it by")]
    NoDigest(String),
}

impl PlanError {
    /// What to do next.
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
