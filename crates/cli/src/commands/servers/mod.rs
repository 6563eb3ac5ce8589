//! Lists servers and their state, once or as they change.

mod command;
pub(crate) mod edit;
mod learn;
mod logs;
mod running;
mod show;

pub(crate) use command::{ServersArgs, held_login, run, show_in_chat};
