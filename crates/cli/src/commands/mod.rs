//! One file per command; each takes the context and gives an exit code.

mod call;
mod calls;
mod doctor;
mod edit;
mod logs;
mod manual;
mod outcome;
mod prompt;
mod prompts;
mod resources;
mod run;
mod servers;
mod tools;

pub(crate) use run::run;
