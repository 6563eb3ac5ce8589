//! The built-in MCP server, and [`InProcess`] for servers within the embedding program.
//!
//! Takes MCP requests and returns answers. File tools never leave their roots. Never reads the
//! configuration or decides whether a call may run.

mod arguments;
#[cfg(test)]
mod attack_tests;
mod beneath;
mod content;
mod display_text;
mod error;
mod glob;
mod in_process;
mod lines;
mod list;
mod prompts;
mod read;
mod request;
mod resources;
mod roots;
mod search;
mod server;
#[cfg(test)]
mod server_tests;
mod sniff;
#[cfg(test)]
mod test_folder;
mod time;
#[cfg(test)]
mod time_tests;
mod tools;
#[cfg(test)]
mod tools_tests;
mod walk;
mod zones;

pub use error::BuiltinRpcError;
pub use in_process::InProcess;
pub use server::Builtin;
