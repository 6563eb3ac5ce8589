//! Finds MCP servers and says what adding one would run; starts nothing and writes no configuration.
//!
//! Reading order: `server_json` is a registry's description of a server, `client` fetches it from a
//! registry, `plan` turns one package or remote into the exact command or address and the questions
//! to ask first. `bundle` does the same for a file. `known_servers` is the short list of servers by
//! the domain of a web address. `offers` is the other side: an organisation's servers as a registry.

pub mod bundle;
pub mod client;
pub mod known_servers;
pub mod offers;
pub mod plan;
pub mod server_json;

mod error;

pub use error::RegistryError;
