//! Paths of this checkout, its build output and its test environment, and running programs there.

use std::env;
use std::io;
use std::path::{Path, PathBuf, absolute};
use std::process::{Command, Stdio};

use crate::error::{Result, XtaskError};

/// The checkout that this program was built from.
pub(crate) struct Workspace {
    pub(crate) root: PathBuf,
    pub(crate) target: PathBuf,
}

impl Workspace {
    pub(crate) fn find() -> Result<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"))
            .ancestors()
            .nth(2)
            .ok_or_else(|| XtaskError::new("the workspace root was not found"))?
            .to_path_buf();
        let target = match env::var_os("CARGO_TARGET_DIR") {
            Some(chosen) => absolute(&chosen).map_err(|cause| {
                XtaskError::new(format!("`CARGO_TARGET_DIR` is not a valid path: {cause}"))
            })?,
            None => target_of_this_program().unwrap_or_else(|| root.join("target")),
        };
        Ok(Self { root, target })
    }

    /// Returns the folder with the servers and suites that the tests use.
    pub(crate) fn testenv(&self) -> PathBuf {
        self.target.join("testenv")
    }

    /// Returns a cargo command at the root of the checkout that knows the test environment.
    pub(crate) fn cargo(&self) -> Command {
        let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.current_dir(&self.root).env("SWITCHBOARD_TESTENV", self.testenv());
        if env::var_os("CARGO_TARGET_DIR").is_some() {
            command.env("CARGO_TARGET_DIR", &self.target);
        }
        // Build scripts that watch these would run again whenever xtask starts cargo.
        for (name, _) in env::vars_os() {
            if name.to_str().is_some_and(describes_this_package) {
                command.env_remove(name);
            }
        }
        command
    }
}

fn describes_this_package(variable: &str) -> bool {
    variable.starts_with("CARGO_PKG_") || variable.starts_with("CARGO_MANIFEST_")
}

/// Returns the target folder that this program is in, because cargo's configuration may move it.
fn target_of_this_program() -> Option<PathBuf> {
    let program = env::current_exe().ok()?;
    let profile = program.parent()?;
    let known = ["debug", "release"].iter().any(|name| profile.ends_with(name));
    known.then(|| profile.parent().map(Path::to_path_buf))?
}

/// Runs a program to its end with our standard streams.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command.status().map_err(|cause| start_failure(command, &cause))?;
    if status.success() {
        return Ok(());
    }
    Err(XtaskError::new(format!("{} ended with {status}", command_text(command))))
}

/// Runs a program to its end and returns what it printed.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .map_err(|cause| start_failure(command, &cause))?;
    if !output.status.success() {
        return Err(XtaskError::new(format!(
            "{} ended with {}",
            command_text(command),
            output.status
        )));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Whether a program exists and succeeds. Discards its output.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Adds the path of a file to the error of an operation on it.
pub(crate) fn with_path<T>(what: &str, path: &Path, result: io::Result<T>) -> Result<T> {
    result.map_err(|cause| XtaskError::new(format!("cannot {what} `{}`: {cause}", path.display())))
}

fn start_failure(command: &Command, cause: &io::Error) -> XtaskError {
    XtaskError::new(format!("{} did not start: {cause}", command_text(command)))
}

fn command_text(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let mut words = vec![program.to_string_lossy()];
    words.extend(command.get_args().take(3).map(std::ffi::OsStr::to_string_lossy));
    format!("`{}`", words.join(" "))
}
