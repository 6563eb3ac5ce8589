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

use crate::options::{Kind, Options, Transport};
use crate::server::Server;

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
    let options = Options::parse(&arguments);
    let transport = options.transport;
    let server = Arc::new(Server::new(options));
    server
        .trace
        .line(&serde_json::json!({"event": "start", "pid": std::process::id()}).to_string());
    if server.options.kind == Kind::Journal {
        let start = serde_json::json!({"event": "start", "pid": std::process::id()});
        server.journal.line(&start.to_string());
    }
    faults::at_start(&server).await;
    tokio::time::sleep(server.options.start_delay).await;
    match transport {
        Transport::Stdio => stdio::serve(server).await,
        Transport::Http | Transport::Sse => http::serve(server).await,
    }
}
