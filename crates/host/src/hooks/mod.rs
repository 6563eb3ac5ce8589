//! Step 7: the programs and addresses of `hooks.json` that are asked before a call and told after it.
//!
//! Reading order: `set` finds the files of all levels, `file` reads one of them into `hook`s, `seal`
//! says what an approval of a project's file refers to. `input` is what a hook is given, `run` gives
//! it to a `program` or to the `web`, `answer` is what it makes of it. `live` keeps the set that is in
//! force. `notify` shows on the desktop that something waits for a person.

mod answer;
mod command;
mod error;
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
