//! A server with everything that the official conformance suite expects, in both eras.
//!
//! It has three tools that the suite does not name: `raw` answers with any text, `refuse` with any
//! error, and `touch` changes the watched resource.

mod answer;
mod plain;
mod rounds;
mod tools;

pub(crate) use answer::{answer, with_capabilities};
