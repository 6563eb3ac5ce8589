//! Conversations at the terminal: `chat`, `run` and `demo` over one engine.

mod ahead;
mod attach;
mod complete;
pub(crate) mod demo;
pub(crate) mod interactive;
pub(crate) mod once;
pub(crate) mod open;
pub(crate) mod review;
mod show;
mod slash;
mod suggest;
