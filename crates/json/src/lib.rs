//! Lossless JSON: text that travels unchanged, and one walker over its members.
//!
//! In goes JSON text; out come the same bytes, shared ([`Json`]), or borrowed slices of its members
//! ([`members`]). Nothing here re-encodes a value, does I/O or knows what a message means.

mod json;
mod members;

pub use json::{Json, utf8};
pub use members::{NoMembers, members, text_of};
