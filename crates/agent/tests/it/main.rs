//! Conversations as a library: real servers, and a model controlled by the test.
#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "clippy takes the shared functions of integration tests for shipped code"
)]

mod cancelling;
mod compaction;
mod examples;
mod history;
mod puppet;
mod results;
mod saying;
mod stage;
