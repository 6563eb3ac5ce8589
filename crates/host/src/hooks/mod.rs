//! Hooks: the programs and URLs of `hooks.json` that run before and after a call.
//!
//! Reading order: `set` finds the files of all levels, `file` parses one into `hook`s, `seal`
//! computes the digest that an approval of a project's file refers to. `input` is the JSON that a
//! hook receives, `runner` passes it to a `program` or to a URL (`web`), `answer` is the parsed
//! reply. `live` holds the set in force. `notify` shows a desktop notification for pending reviews.

mod answer;
mod command;
mod file;
mod hook;
mod input;
mod live;
mod matcher;
mod notify;
mod program;
mod runner;
mod seal;
mod set;
mod web;

pub use answer::HookOutcome;
pub(crate) use answer::{HookAnswer, HookPermission};
pub use hook::{Hook, HookEvent, HookRules};
pub use input::{HookInput, ServerLocation};
pub(crate) use live::{HookContext, LiveHooks};
pub(crate) use notify::notify_pending_reviews;
pub(crate) use runner::HookResult;
pub use runner::HookRunner;
pub use set::{HookFile, HookFileState, HookSet, HookSource};
