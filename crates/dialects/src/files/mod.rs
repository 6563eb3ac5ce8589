//! Files of three formats as JSON values, and changes that leave the rest of their text alone.

mod change;
mod json;
mod parsed_file;
mod toml;
mod yaml_edit;
mod yaml_emit;
mod yaml_tree;

pub(crate) use change::{EntryChange, change};
pub(crate) use parsed_file::{ParsedFile, at, at_mut, read, without_empty};
