//! Servers that are known for the domain of a web address.

mod servers;

pub use servers::{KnownError, KnownServer, KnownServers};
