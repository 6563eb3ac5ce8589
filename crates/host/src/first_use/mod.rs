//! First use: what a person is shown of a new server or definition, and what follows from the answer.

pub(crate) mod new_definition;
pub(crate) mod new_server;
pub(crate) mod queue;
