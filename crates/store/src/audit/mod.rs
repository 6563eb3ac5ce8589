//! The audit log: what became of definitions, chained and signed.

pub mod log;
pub(crate) mod mark;
