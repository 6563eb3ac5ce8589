//! Runs the `switchboard` binary against real servers and fixtures, as a person or a script would.
#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "clippy takes the shared functions of integration tests for shipped code"
)]

mod approval;
mod arguments;
mod broken_siblings;
mod crash;
mod doctor;
mod edit;
mod everything;
mod exit_codes;
mod fastmcp;
mod fetch;
mod filesystem;
mod fresh_home;
mod git;
mod hostile;
mod interrupt;
mod manual;
mod memory;
mod output;
mod remote_server;
mod review;
mod running;
mod sqlite;
mod switchboard;
mod testenv;
mod time;
mod watch;
