//! Writes what the servers offer into the lock file, or says what is different from it.

mod command;
pub(crate) mod packages;

pub(crate) use command::{LockArgs, run};
