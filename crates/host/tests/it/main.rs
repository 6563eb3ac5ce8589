//! Tests of the host with real servers: healthy ones, and every fault of a single call.
//!
//! A name that begins with `f` and a number proves that row of `docs/reference/faults.md`.
#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "clippy takes the shared functions of integration tests for shipped code"
)]

mod another_process;
mod answers;
mod asks;
mod cancelling;
mod case;
mod crashes;
mod deadlines;
mod descendants;
mod framing;
mod hooks;
mod http_answers;
mod http_connections;
mod http_refusals;
mod keeper;
mod library;
mod life;
mod logins;
mod network;
mod processes;
mod redirects;
mod restarts;
mod revisions;
mod server_asks;
mod sessions;
mod stage;
mod starts;
mod tasks;
mod tls;
mod tolerance;
mod visits;
mod waiting;
mod wire;
