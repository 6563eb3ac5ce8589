//! One run of the suite: its command line, its output and its verdict.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::{Result, XtaskError};
use crate::workspace::{Workspace, succeeds, with_path};

use super::summary::SuiteSummary;

const SUITE: &str = "npm/node_modules/@modelcontextprotocol/conformance/dist/index.js";
const NODE: &str = "npm/node_modules/node/bin/node";

/// The network that the suite sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SuiteNetwork {
    /// A namespace with loopback only, if the system allows it: the suite listens on every interface.
    Own,
    /// The network of this process, where the program under test listens.
    Shared,
}

pub(super) struct SuiteRun<'a> {
    /// Name of the run and of its folder.
    pub(super) name: String,
    pub(super) revision: &'a str,
    /// `client` or `server`, and the program under test.
    pub(super) arguments: Vec<&'a OsStr>,
    /// File in `crates/xtask/testenv` that lists expected failures.
    pub(super) baseline: &'a str,
    pub(super) network: SuiteNetwork,
    /// Optional scenarios that may have nothing to check.
    pub(super) idle: &'a [&'a str],
}

impl SuiteRun<'_> {
    /// Runs the suite, prints a line about it, and returns whether it passed.
    pub(super) fn run(&self, workspace: &Workspace) -> Result<bool> {
        let folder = workspace.target.join("conformance").join(&self.name);
        let (printed, succeeded) = self.start(workspace, &folder)?;
        let mut summary = SuiteSummary::read(&printed);
        summary.excuse(self.idle);
        println!("{}: {}", self.name, summary.sentence());
        let complaints = summary.complaints();
        for complaint in &complaints {
            println!("  {complaint}");
        }
        // An empty summary means that the suite printed nothing that could be counted.
        let passed = succeeded && complaints.is_empty() && summary != SuiteSummary::default();
        if !passed {
            println!("  details: {}", folder.display());
        }
        Ok(passed)
    }

    /// Returns the output of the suite and whether it succeeded.
    fn start(&self, workspace: &Workspace, folder: &Path) -> Result<(String, bool)> {
        if folder.exists() {
            with_path("remove", folder, fs::remove_dir_all(folder))?;
        }
        with_path("create", folder, fs::create_dir_all(folder))?;
        let log = folder.join("suite.log");
        let file = with_path("create", &log, File::create(&log))?;
        let second = with_path("open", &log, file.try_clone())?;
        let testenv = workspace.testenv();
        let baseline = workspace.root.join("crates/xtask/testenv").join(self.baseline);
        let node = testenv.join(NODE);
        let mut command = match self.network {
            SuiteNetwork::Own => confined_command(&node),
            SuiteNetwork::Shared => Command::new(&node),
        };
        let status = command
            .arg(testenv.join(SUITE))
            .args(&self.arguments)
            .args(["--requirements", self.revision, "--expected-failures"])
            .arg(baseline)
            .arg("--output-dir")
            .arg(folder)
            .current_dir(&workspace.target)
            .stdin(Stdio::null())
            .stdout(file)
            .stderr(second)
            .status()
            .map_err(|cause| {
                XtaskError::new(format!("the conformance suite did not start: {cause}"))
            })?;
        Ok((with_path("read", &log, fs::read_to_string(&log))?, status.success()))
    }
}

fn confined_command(program: &Path) -> Command {
    let only_loopback = ["-n", "sh", "-c", "ip link set lo up && exec \"$@\"", "sh"];
    if succeeds(Command::new("unshare").args(only_loopback).arg("true")) {
        let mut command = Command::new("unshare");
        command.args(only_loopback).arg(program);
        return command;
    }
    // Not every system allows namespaces; the suite then uses the network of this process.
    Command::new(program)
}

/// Returns the path of a program that was built with the workspace.
pub(super) fn built_program(workspace: &Workspace, name: &str) -> Result<PathBuf> {
    let debug = workspace.target.join("debug");
    [debug.join(name), debug.join("examples").join(name)]
        .into_iter()
        .find(|path| path.is_file())
        .ok_or_else(|| XtaskError::new(format!("no crate has a program `{name}`")))
}
