//! The server scenarios through the gateway, for each era and transport of the server behind it.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::{fs, thread};

use super::suite::{SuiteNetwork, SuiteRun, built_program};
use crate::error::{Result, XtaskError};
use crate::workspace::{Workspace, with_path};

/// Revision of the client, era and transport of the server behind the gateway.
const COMBINATIONS: [(&str, &str, &str); 8] = [
    ("2026-07-28", "modern", "stdio"),
    ("2025-11-25", "legacy", "stdio"),
    ("2026-07-28", "legacy", "stdio"),
    ("2025-11-25", "modern", "stdio"),
    ("2026-07-28", "modern", "http"),
    ("2025-11-25", "legacy", "http"),
    ("2026-07-28", "legacy", "http"),
    ("2025-11-25", "modern", "http"),
];

/// Returns the names of the runs that failed.
pub(super) fn run(workspace: &Workspace) -> Result<Vec<String>> {
    let mut failed = Vec::new();
    for (revision, era, transport) in COMBINATIONS {
        let name = format!("gateway-{revision}-{era}-{transport}");
        let home = workspace.target.join("conformance").join(format!("{name}-home"));
        let (_server, entry) = server(workspace, era, transport)?;
        let gateway = gateway(workspace, &home, &entry)?;
        let run = SuiteRun {
            name,
            revision,
            arguments: ["server", "--url", &gateway.url].map(OsStr::new).to_vec(),
            baseline: match era {
                "legacy" => "conformance-gateway-legacy.yml",
                _ => "conformance-gateway-modern.yml",
            },
            network: SuiteNetwork::Shared,
            idle: &["server-sse-polling", "tasks-status-notifications"],
        };
        if !run.run(workspace)? {
            failed.push(run.name);
        }
    }
    Ok(failed)
}

/// Returns the configuration entry of the server and, over HTTP, the running server.
fn server(
    workspace: &Workspace,
    era: &str,
    transport: &str,
) -> Result<(Option<ListeningProgram>, String)> {
    let program = built_program(workspace, "switchboard-testkit")?;
    let words = ["conformance", "--era", era, "--transport", transport];
    if transport == "stdio" {
        let words: Vec<String> = words.iter().map(|word| format!("{word:?}")).collect();
        let program = program.display().to_string();
        let entry = format!(r#"{{"command":{program:?},"args":[{}]}}"#, words.join(","));
        return Ok((None, entry));
    }
    let mut command = Command::new(program);
    command.args(words).arg("--until-stdin-closes");
    let server = ListeningProgram::start(command)?;
    let entry = format!(r#"{{"url":{:?}}}"#, server.url);
    Ok((Some(server), entry))
}

/// Starts the gateway in a new home folder, in front of that server only.
fn gateway(workspace: &Workspace, home: &Path, entry: &str) -> Result<ListeningProgram> {
    if home.exists() {
        with_path("remove", home, fs::remove_dir_all(home))?;
    }
    with_path("create", home, fs::create_dir_all(home))?;
    let config = home.join("config.json");
    // The suite makes the server change its lists; with pins on, each change would need approval.
    let settings = r#"{"pins":"off"}"#;
    let text = format!(r#"{{"mcpServers":{{"fixture":{entry}}},"settings":{settings}}}"#);
    with_path("write", &config, fs::write(&config, text))?;
    let mut command = Command::new(built_program(workspace, "switchboard")?);
    command
        .args(["serve", "--listen", "127.0.0.1:0", "--server", "fixture"])
        .args(["--names", "plain", "--tools", "all"])
        .current_dir(home)
        .env("SWITCHBOARD_HOME", home)
        .env("HOME", home);
    ListeningProgram::start(command)
}

/// A running program and its address.
pub(super) struct ListeningProgram {
    pub(super) url: String,
    child: Child,
}

impl ListeningProgram {
    /// Starts a program and waits for the address in what it prints.
    pub(super) fn start(mut command: Command) -> Result<Self> {
        let name = command.get_program().to_string_lossy().into_owned();
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|cause| XtaskError::new(format!("`{name}` did not start: {cause}")))?;
        let found = child.stdout.take().and_then(address);
        let mut listening = Self { url: String::new(), child };
        listening.url = found.ok_or_else(|| {
            XtaskError::new(format!("`{name}` exited without printing its address"))
        })?;
        Ok(listening)
    }
}

/// Returns the first URL that the program prints. The rest is drained, because a full pipe would
/// block the program.
fn address(stdout: ChildStdout) -> Option<String> {
    let mut lines = BufReader::new(stdout);
    let mut line = String::new();
    while lines.read_line(&mut line).is_ok_and(|length| length > 0) {
        let start = line.find("http://");
        let found = start.and_then(|start| line.get(start..)?.split_whitespace().next());
        if let Some(found) = found.map(str::to_owned) {
            thread::spawn(move || {
                let mut rest = Vec::new();
                // The content is not needed, and an error only means that the program ended.
                let _ = lines.read_to_end(&mut rest);
            });
            return Some(found);
        }
        line.clear();
    }
    None
}

impl Drop for ListeningProgram {
    fn drop(&mut self) {
        // Fails only if it has already exited.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
