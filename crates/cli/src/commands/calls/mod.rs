//! Lists and shows recorded calls.

mod command;
mod timeline;

pub(crate) use command::{CallsArgs, run};
