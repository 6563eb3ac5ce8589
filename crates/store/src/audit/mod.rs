//! The audit log: flagged, approved and revoked definitions and added servers, chained and signed.

pub(crate) mod log;
pub(crate) mod mark;
