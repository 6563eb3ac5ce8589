//! Sends requests and reads answers, with timeouts and retries.

mod attempt;
mod failure;
mod listing;
mod remote;
mod retry_plan;

pub(crate) use remote::{RemoteModel, RemoteParts};
pub use retry_plan::RetryPolicy;
