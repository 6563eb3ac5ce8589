//! Typed Rust functions from the schemas of tools: converts text to text, and runs nothing.
//!
//! [`rust`] takes the tool definitions of a server and returns the source of a module: a function
//! for each tool, with structs and enums for its arguments and its structured result. All names and
//! texts come from the server, so they appear only as ASCII identifiers, as escaped strings or as
//! comments that cannot end early, hide text or run as a doc test.
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
//! Reading order: `lower` converts schemas to the types of `model`, `write` converts those to text;
//! `names` and `text` make the server's names and texts safe.

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
