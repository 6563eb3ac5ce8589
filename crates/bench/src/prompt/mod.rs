//! `prompt`: what a catalog costs in tokens, how good the estimate is, and what a change leaves.

mod offered;
mod prefix;
mod section;
mod texts;
mod tokenizer;

pub(crate) use section::{Plan, sections};
