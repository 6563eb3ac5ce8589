//! Tests of connections to servers that answer with event streams, counted by a relay in between.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use serde_json::json;

use crate::gateway::Gateway;
use crate::remote_server::RemoteServer;
use crate::switchboard::Switchboard;

const CALLS: usize = 60;
/// Maximum connections: the handshake, the listing and the notification stream may each have one,
/// and a call needs another if the stream of the previous call has not ended yet.
const MAX_CONNECTIONS: usize = 20;

/// A relay that counts the connections to a server.
struct CountingRelay {
    url: String,
    accepted: Arc<AtomicUsize>,
}

impl CountingRelay {
    fn new(server: &RemoteServer) -> Self {
        let address = server.url.strip_prefix("http://").unwrap();
        let (address, path) = address.split_once('/').unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/{path}", listener.local_addr().unwrap());
        let accepted = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&accepted);
        let address = address.to_owned();
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                counted.fetch_add(1, Ordering::SeqCst);
                let Ok(server) = TcpStream::connect(&address) else { return };
                copy(&client, &server);
                copy(&server, &client);
            }
        });
        Self { url, accepted }
    }
}

/// Copies one direction until it ends.
fn copy(from: &TcpStream, to: &TcpStream) {
    let mut from = from.try_clone().unwrap();
    let mut to = to.try_clone().unwrap();
    thread::spawn(move || {
        let mut chunk = [0; 16 << 10];
        while let Ok(length @ 1..) = from.read(&mut chunk) {
            if to.write_all(&chunk[..length]).is_err() {
                break;
            }
        }
        // The other side has closed, so an error cannot be reported.
        _ = to.shutdown(Shutdown::Write);
    });
}

#[test]
fn connections_to_servers_that_answer_with_event_streams_are_reused() {
    for (server, tool, arguments) in [
        (RemoteServer::everything("streamableHttp"), "far__echo", json!({"message": "a"})),
        (RemoteServer::fastmcp("http"), "far__add", json!({"a": 1, "b": 2})),
    ] {
        let relay = CountingRelay::new(&server);
        let switchboard = Switchboard::with(&json!({"far": {"url": relay.url}}));
        let gateway = Gateway::with_tool(&switchboard, &[], tool);
        let client = gateway.modern();
        for _ in 0..CALLS {
            let answer = client.call(tool, &arguments);
            assert!(answer["result"]["content"].is_array(), "{answer}");
        }
        let accepted = relay.accepted.load(Ordering::SeqCst);
        assert!(accepted <= MAX_CONNECTIONS, "{tool}: {accepted} connections for {CALLS} calls");
    }
}
