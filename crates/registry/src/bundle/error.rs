//! Why a bundle is not taken.

use thiserror::Error;

use crate::plan::PlanError;

/// What is wrong with a bundle.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum BundleError {
    /// It cannot be read from the disk or the network.
    #[error("the bundle cannot be read: {0}")]
    NotRead(String),
    /// It is no zip, or a damaged one.
    #[error("the bundle is no sound zip: {0}")]
    NoArchive(String),
    /// It is larger than what is unpacked.
    #[error("the bundle is too large: {0}")]
    TooLarge(String),
    /// A file in it would go where it does not belong.
    #[error("the bundle holds `{name}`, {why}")]
    BadEntry {
        /// The name of the file, short and on one line.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// It has no manifest, or one that cannot be understood.
    #[error("the bundle has no sound `manifest.json`: {0}")]
    NoManifest(String),
    /// It is not for this kind of machine.
    #[error("the bundle is not for `{here}`, but for {}", .for_what.join(", "))]
    OtherPlatform {
        /// This kind of machine.
        here: String,
        /// What it is for.
        for_what: Vec<String>,
    },
    /// It is another file than the one that was meant.
    #[error("the bundle has the SHA-256 {found} and not {expected}")]
    OtherDigest { expected: String, found: String },
    /// It cannot be unpacked.
    #[error("the bundle cannot be unpacked: {0}")]
    NotInstalled(String),
    /// What its manifest says is not run.
    #[error(transparent)]
    Plan(#[from] PlanError),
}
