//! Lossless JSON: text that is forwarded unchanged, and readers for it.
//!
//! The crate takes JSON text. It returns the same bytes, shared ([`Json`]), borrowed slices of its
//! members ([`for_each_member`]), types read from an object ([`Members`]) or from a value of any
//! shape ([`read_tree`]), its canonical form, or the difference between two values. Key order and
//! duplicate keys stay visible. It never does I/O or interprets a message.

mod canonical;
mod json;
mod members;
mod object;
mod pin_diff;
mod tree;

pub use canonical::{CanonicalNode, canonicalize, to_json_string};
pub use json::{Json, utf8};
pub use members::{MembersError, decode_string, for_each_member};
pub use object::{
    FromMembers, Members, RawMembers, deserialize_members, pretty, property_names, text,
};
pub use pin_diff::{changed_parts, diff};
pub use tree::{MemberStore, Scalar, Step, TreeReader, read_strictly, read_tree};
