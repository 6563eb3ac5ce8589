//! Determines which package version a server runs, from caches and registries.

pub(crate) mod confirmed;
pub(crate) mod locked;
pub(crate) mod lookup;
pub(crate) mod npx_cache;
pub(crate) mod python_cache;
