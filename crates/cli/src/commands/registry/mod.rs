//! Looks servers up: in a registry by words and by name, and in the list of known ones.

mod command;
pub(crate) mod errors;

pub(crate) use command::{
    RegistryArgs, RegistryChoiceArgs, known_servers, lookup, question, registries, run,
};
