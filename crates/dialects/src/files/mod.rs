//! Files of three formats as JSON values, and edits that preserve the rest of their text.

mod json;
mod parsed_file;
mod toml;
mod yaml_edit;
mod yaml_tree;

pub(crate) use parsed_file::{
    EntryChange, ParsedFile, at, at_mut, change, is_empty, read, without_empty,
};
