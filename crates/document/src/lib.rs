//! Settings files as documents: JSON with comments, the position of every member, and edits that
//! preserve the rest of the file.
//!
//! The crate takes text. It returns nodes with line and column, or a [`ConfigError`] with file,
//! position and remedy. It never interprets settings.

mod document;
mod edit_locked;
mod error;
mod node_kinds;
mod read_text;

pub use document::{
    Member, Node, NodeValue, Position, duplicate_member, json_value, nested_position, parse,
    parse_options,
};
pub use edit_locked::{edit_locked, edit_locked_within};
pub use error::ConfigError;
pub use node_kinds::{TypeMismatch, choose};
pub use read_text::{read_text, read_text_within, strip_bom};
