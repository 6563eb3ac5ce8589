//! Listens on loopback, says where, and picks the HTTP stack.

use std::io::{self, Read, Write};
use std::sync::Arc;

use tokio::net::TcpListener;

use super::endpoint::FixtureEndpoint;
use super::{axum_server, raw};
use crate::options::{FixtureTransport, ServerLife};
use crate::server::FixtureServer;

pub(crate) async fn serve(server: Arc<FixtureServer>) {
    let options = &server.options;
    let path = if options.transport == FixtureTransport::Sse { "/sse" } else { "/mcp" };
    let listener = listen(options.port, path, options.life).await;
    // Only a hand-written stack can write the bytes that faults want.
    let flaky = server.fault().is_some();
    let endpoint = Arc::new(FixtureEndpoint::new(server));
    if flaky {
        raw::serve(listener, endpoint).await;
    } else {
        axum_server::serve(listener, endpoint).await;
    }
}

/// Takes a loopback port and says on standard output where it is.
pub(crate) async fn listen(port: u16, path: &str, life: ServerLife) -> TcpListener {
    let listener = TcpListener::bind(("127.0.0.1", port)).await;
    let listener = listener.unwrap_or_else(|cause| panic!("port {port}: {cause}"));
    let address = listener.local_addr().expect("a bound listener has an address");
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "listening http://{address}{path}").expect("standard output is open");
    stdout.flush().expect("standard output is open");
    drop(stdout);
    match life {
        ServerLife::UntilKilled => {}
        ServerLife::UntilInputEnds => {
            std::thread::spawn(end_with_input);
        }
    }
    listener
}

#[expect(clippy::exit, reason = "whoever started this server is gone")]
fn end_with_input() {
    let mut rest = [0; 64];
    while io::stdin().read(&mut rest).is_ok_and(|count| count > 0) {}
    std::process::exit(0);
}
