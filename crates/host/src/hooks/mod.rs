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

pub use answer::Judged;
pub(crate) use answer::{Answer, Permission};
pub use hook::{Hook, Rules, When};
pub use input::{Occasion, Reached};
pub(crate) use live::{Around, Hooks};
pub(crate) use notify::notify_of_waiting;
pub(crate) use runner::Ran;
pub use runner::Runner;
pub use set::{FileState, HookFile, HookSet, HookSource};
