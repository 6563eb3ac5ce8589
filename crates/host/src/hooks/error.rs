//! `HookError`: what is wrong with a file of hooks, and what to do about it.

use std::path::{Path, PathBuf};

use switchboard_document::ConfigError;

/// What is wrong with a file of hooks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HookError {
    /// The file cannot be read or is no JSON.
    #[error("{0}")]
    Unreadable(ConfigError),
    /// The file does not say what a file of hooks says.
    #[error("{what} ({})", file.display())]
    Wrong {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// A project's file is not what a person approved.
    #[error("the project's hooks are not those that were approved ({})", file.display())]
    Changed {
        /// The file.
        file: PathBuf,
    },
}

impl HookError {
    pub(super) fn wrong(file: &Path, what: impl Into<String>) -> Self {
        Self::Wrong { file: file.to_owned(), what: what.into() }
    }

    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Unreadable(error) => error.hint.as_deref().map(str::to_owned),
            Self::Wrong { .. } => Some("`switchboard hooks list` shows all files of hooks".into()),
            Self::Changed { .. } => Some(
                "look at them, then `switchboard hooks approve`, or `switchboard hooks revoke` to do \
                 without them"
                    .into(),
            ),
        }
    }
}
