//! Errors about bundles.

use thiserror::Error;

use crate::plan::PlanError;

/// Why a bundle is rejected.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum BundleError {
    /// The bundle cannot be read from disk or fetched.
    #[error("the bundle cannot be read: {0}")]
    NotRead(String),
    /// The bundle is not a valid zip archive.
    #[error("the bundle is no sound zip: {0}")]
    NoArchive(String),
    /// The bundle exceeds a size limit.
    #[error("the bundle is too large: {0}")]
    TooLarge(String),
    /// An entry of the archive is not acceptable.
    #[error("the bundle holds `{name}`, {why}")]
    BadEntry {
        /// The name of the file, shortened and on one line.
        name: String,
        why: &'static str,
    },
    /// The manifest is missing or invalid.
    #[error("the bundle has no sound `manifest.json`: {0}")]
    NoManifest(String),
    /// The bundle is not for this platform.
    #[error("the bundle is not for `{here}`, but for {}", .for_what.join(", "))]
    OtherPlatform {
        /// The current platform.
        here: String,
        /// The supported platforms.
        for_what: Vec<String>,
    },
    /// The bundle is not the expected file.
    #[error("the bundle has the SHA-256 {found} and not {expected}")]
    OtherDigest { expected: String, found: String },
    /// The bundle cannot be unpacked.
    #[error("the bundle cannot be unpacked: {0}")]
    NotInstalled(String),
    /// The command in the manifest is not acceptable.
    #[error(transparent)]
    Plan(#[from] PlanError),
}
