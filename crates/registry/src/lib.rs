//! Finds MCP servers and says what adding one would run; starts nothing and writes no configuration.
//!
//! Reading order: `server_json` is what a registry knows about a server, `client` asks a registry
//! for it, `plan` makes of one package or remote the exact command or address and the questions to
//! ask before. `bundle` does the same for a file. `known` is the short list of servers by the domain
//! of a web address. `offered` is the other side: what an organisation offers, as a registry.

pub mod bundle;
pub mod client;
pub mod known_servers;
pub mod offers;
pub mod plan;
pub mod server_json;

mod error;

pub use error::RegistryError;
