//! A connection without a host, for tests of the wire itself.

use std::process::Stdio;
use std::time::Duration;

use switchboard_wire::{Inbound, Introduction, Peer, WireLimits, initialize, start_stream};
use tokio::process::{Child, Command};
use tokio::sync::mpsc;

/// A fixture process and the connection to it.
pub(crate) struct Line {
    pub(crate) peer: Peer,
    _inbound: mpsc::Receiver<Inbound>,
    child: Child,
}

impl Line {
    /// Starts the fixture with these arguments and completes the handshake.
    pub(crate) async fn open(words: &[&str]) -> Self {
        let mut child = Command::new(switchboard_testkit::binary())
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let from = child.stdout.take().unwrap();
        let to = child.stdin.take().unwrap();
        let (peer, inbound) = start_stream(from, to, WireLimits::default());
        let us = Introduction {
            name: "test".to_owned(),
            version: "0".to_owned(),
            capabilities: "{}".to_owned(),
            extensions: &[],
        };
        initialize(&peer, &us, Duration::from_secs(10)).await.unwrap();
        Self { peer, _inbound: inbound, child }
    }

    pub(crate) async fn close(mut self) {
        self.peer.close("the test is over");
        self.child.kill().await.unwrap();
    }
}
