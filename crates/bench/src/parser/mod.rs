//! `parser`: how fast a streamed message becomes text and calls, and how that grows.

mod measure;
mod messages;

pub(crate) use measure::{AnchorChoice, measure, section};
