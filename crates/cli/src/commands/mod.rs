//! One file per command; each takes the context and gives an exit code.

pub(crate) mod call;
mod calls;
mod complete;
mod doctor;
mod edit;
mod index;
pub(crate) mod login;
mod logout;
mod logs;
mod manual;
mod models;
pub(crate) mod outcome;
mod prompt;
mod prompts;
mod resources;
mod review;
mod review_answer;
mod run;
mod serve;
mod serve_door;
mod serve_wishes;
pub(crate) mod servers;
mod sessions;
mod tasks;
mod tokens;
pub(crate) mod tools;
mod watch_resource;

pub(crate) use run::run;
