//! What can go wrong, one file per family of faults.

mod fault;
mod http_bytes;
mod message;
mod strike;
mod text;

pub(crate) use fault::{Fault, FaultFamily, FaultOptions};
pub(crate) use strike::{after, at_start, ignores_end_of_input, strike, wants};
pub(crate) use text::{encode, greeting};
