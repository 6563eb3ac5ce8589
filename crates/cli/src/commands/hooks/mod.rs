//! Lists the hooks of all levels; approves and revokes those of a project.

mod command;
mod test;

pub(crate) use command::{HooksArgs, as_json, diagnosis, run};
