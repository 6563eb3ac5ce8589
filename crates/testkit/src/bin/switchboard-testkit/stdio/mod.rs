//! The stdio transport: one JSON message per line.

#[cfg_attr(not(target_os = "linux"), path = "peek_elsewhere.rs")]
mod peek;
mod serve;

pub(crate) use serve::serve;
