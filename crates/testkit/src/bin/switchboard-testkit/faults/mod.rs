//! Faults of servers, one file per family.

mod fault;
mod http_bytes;
mod message;
mod strike;
mod text;

pub(crate) use fault::{Fault, FaultFamily, FaultOptions};
pub(crate) use strike::{after, at_start, ignores_end_of_input, strike, wants};
pub(crate) use text::{encode, greeting};
