//! A server with everything that the official suite expects of one, in both eras.
//!
//! Beside the suite's names it has three tools of its own: `raw` answers with any text, `refuse`
//! with any error, and `touch` changes the watched resource.

mod answer;
mod changes;
mod listen;
mod offers;
mod plain;
mod prompts;
mod questions;
mod rounds;
mod schemas;
mod tools;

pub(crate) use answer::{answer, with_capabilities};
pub(crate) use changes::watch_changes;
