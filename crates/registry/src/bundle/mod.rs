//! MCPB and DXT bundles: a zip with a server and a manifest that says how to run it.
//!
//! Reading order: `archive` reads the zip within limits, `manifest` what it says about itself,
//! `bundle_plan` makes a plan of that, `install` unpacks it into a folder named by its digest.

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
