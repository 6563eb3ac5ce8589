//! One module per command; each takes the context and gives an exit code.

pub(crate) mod add;
pub(crate) mod audit;
pub(crate) mod bundle;
pub(crate) mod call;
pub(crate) mod calls;
pub(crate) mod chat;
pub(crate) mod complete;
pub(crate) mod consent;
pub(crate) mod dialects;
pub(crate) mod doctor;
pub(crate) mod first_use;
pub(crate) mod generate;
pub(crate) mod held;
pub(crate) mod hooks;
pub(crate) mod lock;
pub(crate) mod login;
pub(crate) mod manual;
pub(crate) mod models;
pub(crate) mod outcome;
pub(crate) mod pins;
pub(crate) mod policy;
pub(crate) mod prompts;
pub(crate) mod registry;
pub(crate) mod resources;
pub(crate) mod review;
mod run;
pub(crate) mod secrets;
pub(crate) mod serve;
pub(crate) mod servers;
pub(crate) mod sessions;
pub(crate) mod tasks;
pub(crate) mod tokens;
pub(crate) mod tools;

pub(crate) use run::run;
