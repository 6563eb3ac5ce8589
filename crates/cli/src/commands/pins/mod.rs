//! Shows what is pinned of servers and what is held, approves it and takes that back.

mod command;
mod found;

pub(crate) use command::{PinsArgs, run};
