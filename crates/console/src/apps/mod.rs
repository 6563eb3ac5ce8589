//! MCP Apps: a page of a server in a frame of its own, which is never ours and has no cookie.

mod frames;
mod offer;
mod rules;

pub(crate) use frames::{Frames, OwnRules, frame};
pub(crate) use offer::{app_of, is_for_apps};
pub(crate) use rules::approved;
