//! Shows and checks the rules about calls.

mod command;
mod explain;
mod replay;
mod test;

pub(crate) use command::{PolicyArgs, check_file, run, usable};
