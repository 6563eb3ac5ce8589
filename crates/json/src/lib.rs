//! Lossless JSON: text that travels unchanged, and what can be read from it.
//!
//! In goes JSON text; out come the same bytes, shared ([`Json`]), borrowed slices of its members
//! ([`for_each_member`]), its canonical form, or the difference between two values. Key order and duplicate
//! keys stay visible. Nothing here does I/O or knows what a message means.

mod canonical;
mod fields;
mod json;
mod members;
mod pin_diff;
pub mod strict;

pub use canonical::{CanonicalNode, canonicalize, to_json_string};
pub use fields::{RawFields, pretty, text};
pub use json::{Json, utf8};
pub use members::{MembersError, decode_string, for_each_member};
pub use pin_diff::{changed_parts, diff};
pub use strict::read_strictly;
