//! MCPB and DXT bundles: a zip archive with a server and a manifest that describes how to run it.
//!
//! Reading order: `archive` reads the zip archive within limits, `manifest` parses the manifest,
//! `bundle_plan` converts it to a plan, and `install` unpacks it to a folder named by its digest.

mod archive;
mod bundle_plan;
mod bundle_type;
mod error;
mod install;
mod manifest;

pub use archive::ArchiveLimits;
pub use bundle_plan::BundleContext;
pub use bundle_type::{Bundle, fetch_bundle};
pub use error::BundleError;
pub use install::{InstalledBundle, bundle_folder, installed_bundle_at};
pub use manifest::{Manifest, UserConfig};
