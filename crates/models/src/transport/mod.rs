//! Sends requests and reads answers: what is tried again, how long is waited, when is given up.

mod attempt;
mod failure;
mod listing;
mod quote;
mod remote;
mod retry_plan;
mod retry_policy;

pub(crate) use remote::{RemoteModel, RemoteParts};
pub use retry_policy::RetryPolicy;
