//! Asks a registry: search, versions and one server, with a cache for when it cannot be reached.

mod address;
mod cache;
mod fetch;
mod registry;

pub use address::{OFFICIAL_REGISTRY, RegistryAddress, RegistryReach};
pub use fetch::FetchLimits;
pub use registry::{Registry, WithAge};

pub(crate) use fetch::{FetchOutcome, Redirects, RegistryFetcher};
