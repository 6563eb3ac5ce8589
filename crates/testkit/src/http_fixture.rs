//! An HTTP fixture server in its own process, killed when the value is dropped.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use crate::binary;

/// A running fixture that listens on loopback.
#[derive(Debug)]
pub struct HttpFixture {
    /// URL of the endpoint, for example `http://127.0.0.1:40123/mcp`.
    pub url: String,
    child: Child,
}

impl HttpFixture {
    /// Starts the fixture binary with these arguments and waits until it listens.
    ///
    /// The arguments must name an HTTP transport: `["echo", "--transport", "http"]`.
    pub fn start(arguments: &[&str]) -> Self {
        let mut child = Command::new(binary())
            .args(arguments)
            // The pipe closes however this process ends, so no fixture outlives it.
            .arg("--until-stdin-closes")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the fixture binary can be started");
        let stdout = child.stdout.take().expect("standard output is piped");
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line).expect("the fixture says where it listens");
        let Some(url) = line.trim().strip_prefix("listening ") else {
            end(&mut child);
            panic!("the fixture {arguments:?} said `{}` instead of where it listens", line.trim());
        };
        Self { url: url.to_owned(), child }
    }

    /// Process id of the fixture.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Returns scheme, host and port, without a path.
    pub fn origin(&self) -> String {
        let address = self.url.strip_prefix("http://").expect("fixtures listen on plain HTTP");
        let host = address.split('/').next().unwrap_or_default();
        format!("http://{host}")
    }
}

impl Drop for HttpFixture {
    fn drop(&mut self) {
        end(&mut self.child);
    }
}

/// Kills and reaps the process. Errors are ignored: they mean that it has already exited.
fn end(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}
