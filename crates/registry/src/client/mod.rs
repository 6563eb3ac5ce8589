//! Asks a registry: search, versions and one server, with a cache for when it cannot be reached.

mod address;
mod cache;
mod fetch;
mod registry;

pub use address::{OFFICIAL, Reach, RegistryAddress};
pub use fetch::Limits;
pub use registry::{Found, Registry};

pub(crate) use fetch::{Fetcher, Got, Redirects};
