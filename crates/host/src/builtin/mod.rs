//! The built-in MCP server: echo, time and read-only file tools that work with nothing installed.
//!
//! [`Builtin::answer`] takes one request of either era and gives the JSON text of its result;
//! how requests arrive is somebody else's business. Reading order: `server` → `request` (which
//! era asks) → `tools`, `resources`, `prompts` → one file per tool → `roots` and `beneath`, which
//! decide what may be opened and open it.
//!
//! [`InProcess`] is a server of the same kind whose tools the program around us brings along.

mod arguments;
mod beneath;
mod content;
mod echo;
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
mod shown;
mod sniff;
mod time;
mod tools;
mod walk;
mod zones;

#[cfg(test)]
mod attack_tests;
#[cfg(test)]
mod server_tests;
#[cfg(test)]
mod test_folder;
#[cfg(test)]
mod time_tests;
#[cfg(test)]
mod tools_tests;

pub use error::RpcError;
pub use in_process::{InProcess, Working};
pub use server::{Builtin, Clock};
