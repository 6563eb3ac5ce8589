//! An authorization server and the MCP server behind it in one process: strict, or wrong on demand.

mod authorize;
mod clients;
mod control;
mod form;
mod grants;
mod metadata;
mod misbehaviour;
mod register;
mod resource;
mod serve;
mod settings;
mod sink;
mod site;
mod token;

pub(crate) use misbehaviour::MISBEHAVIOURS;
pub(crate) use serve::serve;
