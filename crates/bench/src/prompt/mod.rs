//! `prompt`: cost of a catalog in tokens, error of the estimate, and prefix that a change keeps.

mod offered_servers;
mod prefix;
mod section;
mod texts;

pub(crate) use section::{PromptPlan, sections};
