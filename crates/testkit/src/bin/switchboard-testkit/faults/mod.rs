//! What can go wrong, one file per family of faults.

mod envelope;
mod fault;
mod framing;
mod handshake;
mod http_bytes;
mod process;
mod shape;
mod start;
mod strike;
mod text;

pub(crate) use fault::{FAULTS, Fault, FaultFamily};
pub(crate) use framing::{encode, greeting};
pub(crate) use start::{at_start, ignores_end_of_input};
pub(crate) use strike::{after, strike, wants};
