//! `switchboard servers`: lists, watches, edits and restarts servers.

mod command;
pub(crate) mod edit;
mod learn;
mod list;
mod show;

pub(crate) use command::{ServersArgs, run};
pub(crate) use list::{held_login, show_in_chat};
