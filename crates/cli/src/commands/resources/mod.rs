//! Lists and reads resources.

mod command;
mod watch;

pub(crate) use command::{ResourcesArgs, run};
