//! `parser`: how fast a streamed message becomes text and calls, and how that grows.

mod measure;
mod messages;
mod section;

pub(crate) use measure::{AnchorChoice, measure};
pub(crate) use section::section;
