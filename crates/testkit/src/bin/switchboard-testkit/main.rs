//! MCP and model servers for tests: `switchboard-testkit <kind> [--flag value]...`.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a fixture stops loudly when a test uses it wrongly"
)]

mod exchange;
mod faults;
mod http;
mod journal;
mod message;
mod model;
mod oauth;
mod options;
mod server;
mod stdio;
mod system;

use std::sync::Arc;

use clap::Parser;

use crate::options::{FixtureOptions, FixtureTransport, ServerKind};
use crate::server::FixtureServer;

#[tokio::main]
async fn main() {
    let options = FixtureOptions::parse();
    match options.kind {
        ServerKind::Model => return model::serve(options).await,
        ServerKind::Oauth => return oauth::serve(options).await,
        _ => {}
    }
    let transport = options.transport;
    let server = Arc::new(FixtureServer::new(options));
    let start = serde_json::json!({"event": "start", "pid": std::process::id()}).to_string();
    server.trace.line(&start);
    if server.options.kind == ServerKind::Journal {
        server.journal.line(&start);
    }
    faults::at_start(&server).await;
    match transport {
        FixtureTransport::Stdio => stdio::serve(server).await,
        FixtureTransport::Http | FixtureTransport::Sse => http::serve(server).await,
    }
}
