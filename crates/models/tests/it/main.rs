//! Models over a loopback server that answers correctly, wrongly or not at all.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "clippy takes the shared functions of integration tests for shipped code"
)]

mod answers;
mod checks;
mod fixtures;
mod listeners;
mod refusals;
mod sampling;
mod scripted;
mod server;
mod trouble;
mod vendors;
