//! `prompt`: what a catalog costs in tokens, how good the estimate is, and what a change leaves.

mod offered_servers;
mod prefix;
mod section;
mod texts;

pub(crate) use section::{PromptPlan, sections};
