//! Lists, shows and finds tools.

mod command;
pub(crate) mod row;

pub(crate) use command::{ToolsArgs, first_line, look, run, show_in_chat, start};
