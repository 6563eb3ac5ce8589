//! Known servers, found by the domain of a URL.

mod servers;

pub use servers::{KnownError, KnownServer, KnownServers};
