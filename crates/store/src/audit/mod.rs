//! The audit log: what became of definitions, chained and signed.

pub(crate) mod log;
pub(crate) mod mark;
