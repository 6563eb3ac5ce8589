//! A model that answers from a script file, for tests and demonstrations.

mod model;
mod script;
mod turn;

pub(crate) use model::ScriptedModel;
