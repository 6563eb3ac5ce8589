//! First use: the review of a new server or definition, and the effects of the answer.

pub(crate) mod new_definition;
pub(crate) mod new_server;
pub(crate) mod queue;
