//! The registry client: search, versions and details, cached while a registry is unreachable.

mod address;
mod cache;
mod fetch;
mod registry;

pub use address::{OFFICIAL_REGISTRY, RegistryAddress, RegistryReach};
pub use fetch::FetchLimits;
pub use registry::{Registry, WithAge};

pub(crate) use fetch::{FetchOutcome, Redirects, RegistryFetcher};
