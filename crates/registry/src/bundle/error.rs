//! Errors while reading, checking and unpacking bundles.

use thiserror::Error;

use crate::plan::PlanError;

/// Why a bundle is rejected.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum BundleError {
    #[error("cannot read the bundle: {0}")]
    NotRead(String),
    #[error("the bundle is not a valid zip archive: {0}")]
    NoArchive(String),
    #[error("the bundle is too large: {0}")]
    TooLarge(String),
    /// `name` is shortened, and `why` is a predicate that follows it.
    #[error("bundle entry `{name}` {why}")]
    BadEntry { name: String, why: &'static str },
    #[error("the bundle has no valid `manifest.json`: {0}")]
    NoManifest(String),
    #[error("the bundle does not support `{here}`, only {}", .for_what.join(", "))]
    OtherPlatform { here: String, for_what: Vec<String> },
    #[error("SHA-256 mismatch: the bundle has {found}, expected {expected}")]
    OtherDigest { expected: String, found: String },
    #[error("cannot unpack the bundle: {0}")]
    NotInstalled(String),
    #[error(transparent)]
    Plan(#[from] PlanError),
}
