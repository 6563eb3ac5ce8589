//! The review queue: questions that wait for a person, in a file that processes share.

pub(crate) mod entry;
pub(crate) mod file;
pub(crate) mod rows;
pub(crate) mod store;
pub(crate) mod user_decision;
