//! A program that says where it listens, ended with the value.

use std::io::{BufRead, BufReader, Read as _};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;

use crate::error::{Result, XtaskError};

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
            XtaskError::new(format!("`{name}` ended without saying where it listens"))
        })?;
        Ok(listening)
    }
}

/// The first address that is printed; what follows is read so that nobody waits for a reader.
fn address(stdout: ChildStdout) -> Option<String> {
    let mut lines = BufReader::new(stdout);
    let mut line = String::new();
    while lines.read_line(&mut line).is_ok_and(|length| length > 0) {
        let start = line.find("http://");
        let found = start.and_then(|start| line.get(start..)?.split_whitespace().next());
        if let Some(found) = found.map(str::to_owned) {
            thread::spawn(move || {
                let mut rest = Vec::new();
                // Nothing of it is wanted.
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
        // Failing to kill means that it has already ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
