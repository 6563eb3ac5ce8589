//! Sends requests and reads answers: what is tried again, how long is waited, when is given up.

mod attempt;
mod failure;
mod listing;
mod patience;
mod plan;
mod quote;
mod remote;
mod retry_after;

pub use patience::Patience;
pub(crate) use remote::{Parts, Remote};
