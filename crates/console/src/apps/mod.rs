//! MCP Apps: a page of a server in a frame of its own, which is never ours and has no cookie.

mod content_policy;
mod frames;
mod tool_meta;

pub(crate) use content_policy::approved_origins;
pub(crate) use frames::{Frames, OwnContentPolicy, frame};
pub(crate) use tool_meta::{app_uri, is_for_apps};
