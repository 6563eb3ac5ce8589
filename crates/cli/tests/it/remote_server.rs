//! Real servers that listen on a port: started and stopped by a test.

use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

use crate::running::{TEST_TIMEOUT, poll};
use crate::testenv::{installed_path, node};

/// A real server that listens on loopback; killed when the value is dropped.
pub(crate) struct RemoteServer {
    pub(crate) url: String,
    child: Child,
}

impl RemoteServer {
    /// Starts `server-everything` with `streamableHttp` or `sse`.
    pub(crate) fn everything(transport: &str) -> Self {
        let [node, script] = node("server-everything");
        let path = if transport == "sse" { "/sse" } else { "/mcp" };
        Self::start(path, |port| {
            let mut command = Command::new(&node);
            command.args([script.as_str(), transport]).env("PORT", port.to_string());
            command
        })
    }

    /// Starts the `FastMCP` sample with `http` or `sse`.
    pub(crate) fn fastmcp(transport: &str) -> Self {
        let path = if transport == "sse" { "/sse" } else { "/mcp" };
        let program = installed_path("python/bin/fastmcp");
        let script = installed_path("fastmcp_server.py");
        Self::start(path, |port| {
            let mut command = Command::new(&program);
            command.args(["run", &script, "--transport", transport, "--no-banner"]);
            command.args(["--host", "127.0.0.1", "--port", &port.to_string()]);
            command
        })
    }

    fn start(path: &str, command: impl Fn(u16) -> Command) -> Self {
        let port = free_port();
        let mut child = command(port)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("an installed server can be started");
        let listens = poll(TEST_TIMEOUT, || {
            let ended = child.try_wait().unwrap();
            assert!(ended.is_none(), "the server on port {port} ended: {ended:?}");
            TcpStream::connect(("127.0.0.1", port)).ok()
        });
        let server = Self { url: format!("http://127.0.0.1:{port}{path}"), child };
        assert!(listens.is_some(), "nothing listens at {}", server.url);
        server
    }
}

impl Drop for RemoteServer {
    fn drop(&mut self) {
        // `kill` fails only if the process has already exited.
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

/// Returns a port without a listener at this moment.
pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("loopback has a free port");
    listener.local_addr().unwrap().port()
}
