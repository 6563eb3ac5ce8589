//! `switchboard add`: from a name in a registry, a bundle or a known server to an entry.

mod answers;
mod command;

pub(crate) use command::{AddArgs, run};
