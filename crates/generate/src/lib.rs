//! Typed Rust functions from the schemas of tools: pure text to text, nothing is run.
//!
//! [`rust`] takes what a server says of its tools and gives the text of a module: a function for
//! each tool, with structs and enums for its arguments and its structured result. All names and
//! texts are the server's own, so nothing of them is ever more than an identifier in ASCII, an
//! escaped string or a comment that cannot break out, hide anything or be run as an example.
//!
//! ```
//! use serde_json::json;
//! use switchboard_generate::{ToolSpec, rust};
//!
//! let input = json!({"type": "object", "properties": {"text": {"type": "string"}}});
//! let tool = ToolSpec { name: "echo".to_owned(), description: None, input, output: None };
//! let module = rust("notes", &[tool]);
//! assert!(module.contains("pub struct EchoArguments {"));
//! assert!(module.contains("pub async fn echo("));
//! ```
//!
//! Reading order: `lower` turns schemas into the types of `model`, `write` turns those into text;
//! `names` and `text` make what others wrote safe.

mod choice;
mod lower;
mod merge;
mod model;
mod module;
mod names;
mod text;
mod union;
mod write;

#[cfg(test)]
mod hostile_tests;
#[cfg(test)]
mod module_tests;

pub use module::{ToolSpec, rust};
