//! MCP Apps: a page of a server in a frame of its own, which is never ours and has no cookie.

mod content_policy;
mod frames;

pub(crate) use content_policy::approved_origins;
pub(crate) use frames::{Frames, OwnContentPolicy, frame};
