//! MCP and model servers for tests: `switchboard-testkit <kind> [--flag value]...`.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a fixture stops loudly when a test uses it wrongly"
)]

mod conversation;
mod emission;
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

use crate::options::{FixtureOptions, FixtureTransport, ServerKind};
use crate::server::FixtureServer;

#[tokio::main]
async fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == "--help") {
        options::print_usage();
        return;
    }
    if let Some((kind, rest)) = arguments.split_first() {
        match kind.as_str() {
            "model" => return model::serve(rest).await,
            "oauth" => return oauth::serve(rest).await,
            _ => {}
        }
    }
    let options = FixtureOptions::parse(&arguments);
    let transport = options.transport;
    let server = Arc::new(FixtureServer::new(options));
    server
        .trace
        .line(&serde_json::json!({"event": "start", "pid": std::process::id()}).to_string());
    if server.options.kind == ServerKind::Journal {
        let start = serde_json::json!({"event": "start", "pid": std::process::id()});
        server.journal.line(&start.to_string());
    }
    faults::at_start(&server).await;
    tokio::time::sleep(server.options.start_delay).await;
    match transport {
        FixtureTransport::Stdio => stdio::serve(server).await,
        FixtureTransport::Http | FixtureTransport::Sse => http::serve(server).await,
    }
}
