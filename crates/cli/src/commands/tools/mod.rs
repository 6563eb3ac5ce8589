//! Lists, shows and finds tools.

mod command;
pub(crate) mod row;

pub(crate) use command::{ToolsArgs, first_line, run, show_in_chat, start, start_unasked};
