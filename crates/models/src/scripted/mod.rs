//! A model whose answers stand in a file, for tests, demonstrations and rehearsals.

mod model;
mod script;
mod turn;

pub(crate) use model::ScriptedModel;
