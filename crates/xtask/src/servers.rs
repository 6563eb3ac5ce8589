//! The installed servers, how each is started, and a check that it answers.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::error::{Result, XtaskError};
use crate::workspace::with_path;

/// A server over stdio. Program and script are relative to the test environment.
pub(crate) struct TestServer {
    pub(crate) name: &'static str,
    pub(crate) part: &'static str,
    program: &'static str,
    script: Option<&'static str>,
    arguments: &'static [&'static str],
}

pub(crate) const SERVERS: [TestServer; 8] = [
    node("everything", "npm/node_modules/@modelcontextprotocol/server-everything/dist/index.js"),
    TestServer {
        arguments: &["."],
        ..node(
            "filesystem",
            "npm/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js",
        )
    },
    node("memory", "npm/node_modules/@modelcontextprotocol/server-memory/dist/index.js"),
    python("time", "python/bin/mcp-server-time"),
    python("git", "python/bin/mcp-server-git"),
    python("fetch", "python/bin/mcp-server-fetch"),
    TestServer { script: Some("fastmcp_server.py"), ..python("fastmcp", "python/bin/python") },
    TestServer {
        part: "python-legacy",
        arguments: &["--db-path", "sqlite.db"],
        ..python("sqlite", "python-legacy/bin/mcp-server-sqlite")
    },
];

const fn node(name: &'static str, script: &'static str) -> TestServer {
    let program = "npm/node_modules/node/bin/node";
    TestServer { name, part: "npm", program, script: Some(script), arguments: &[] }
}

const fn python(name: &'static str, program: &'static str) -> TestServer {
    TestServer { name, part: "python", program, script: None, arguments: &[] }
}

/// How long a server may take to answer. Generous, because the first start compiles Python files,
/// perhaps on a busy machine.
const START_TIMEOUT: Duration = Duration::from_mins(2);

const INITIALIZE: &str = concat!(
    r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","#,
    r#""capabilities":{},"clientInfo":{"name":"xtask","version":"0"}}}"#,
    "\n"
);

/// Starts a server, waits for its answer to `initialize`, kills it, and returns how long it took.
pub(crate) fn start_once(server: &TestServer, testenv: &Path) -> Result<Duration> {
    let folder = testenv.join("first-word");
    with_path("create", &folder, fs::create_dir_all(&folder))?;
    let errors = folder.join(format!("{}.stderr", server.name));
    let errors_file = with_path("create", &errors, File::create(&errors))?;
    let started = Instant::now();
    let mut child = Command::new(testenv.join(server.program))
        .args(server.script.map(|script| testenv.join(script)))
        .args(server.arguments)
        .current_dir(&folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(errors_file)
        .spawn()
        .map_err(|cause| {
            XtaskError::new(format!("server `{}` did not start: {cause}", server.name))
        })?;
    let answered = answers(&mut child);
    // Some servers do not exit when their input closes, and none has anything to save.
    let _ = child.kill();
    let _ = child.wait();
    if answered {
        return Ok(started.elapsed());
    }
    Err(XtaskError::new(format!("server `{}` did not answer `initialize`", server.name))
        .with_hint(format!("its error output is in {}", errors.display())))
}

fn answers(child: &mut Child) -> bool {
    let (Some(mut input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        return false;
    };
    if input.write_all(INITIALIZE.as_bytes()).and_then(|()| input.flush()).is_err() {
        return false;
    }
    let (found, answer) = mpsc::sync_channel(1);
    thread::spawn(move || {
        let mut lines = BufReader::new(output).lines().map_while(std::result::Result::ok);
        // Fails only if the receiver has timed out.
        let _ = found.send(lines.any(|line| line.contains("\"serverInfo\"")));
    });
    answer.recv_timeout(START_TIMEOUT).unwrap_or(false)
}
