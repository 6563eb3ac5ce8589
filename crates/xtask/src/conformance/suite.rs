//! One run of the suite: its output, its folder, and what it makes of our program.

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
    /// One of its own where the system lets us: the suite itself listens, on every interface.
    Own,
    /// Ours, where the program under test listens.
    Shared,
}

pub(super) struct SuiteRun<'a> {
    /// What the run is called, also its folder.
    pub(super) name: String,
    pub(super) revision: &'a str,
    /// `client` or `server`, and what is under test.
    pub(super) arguments: Vec<&'a OsStr>,
    /// The file below the test environment's sources that lists what may fail.
    pub(super) baseline: &'a str,
    pub(super) network: SuiteNetwork,
    /// Scenarios that the revision does not require, and that may find nothing to check.
    pub(super) idle: &'a [&'a str],
}

impl SuiteRun<'_> {
    /// Runs the suite, once more if something was wrong: its scenarios wait for fixed times, which a
    /// busy machine exceeds. What is wrong twice is wrong.
    pub(super) fn run_with_retry(&self, workspace: &Workspace) -> Result<bool> {
        Ok(self.run_once(workspace)? || {
            println!("  once more:");
            self.run_once(workspace)?
        })
    }

    /// Prints a line about the run, and says whether all is well.
    fn run_once(&self, workspace: &Workspace) -> Result<bool> {
        let folder = workspace.target.join("conformance").join(&self.name);
        let (printed, ended_well) = self.start(workspace, &folder)?;
        let mut summary = SuiteSummary::read(&printed);
        summary.excuse(self.idle);
        println!("{}: {}", self.name, summary.sentence());
        let complaints = summary.complaints();
        for complaint in &complaints {
            println!("  {complaint}");
        }
        let well = ended_well && complaints.is_empty() && summary != SuiteSummary::default();
        if !well {
            println!("  details: {}", folder.display());
        }
        Ok(well)
    }

    /// Returns what the suite printed and whether it was content.
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
    Command::new(program)
}

/// A program that was built with the workspace.
pub(super) fn built_program(workspace: &Workspace, name: &str) -> Result<PathBuf> {
    let debug = workspace.target.join("debug");
    [debug.join(name), debug.join("examples").join(name)]
        .into_iter()
        .find(|path| path.is_file())
        .ok_or_else(|| XtaskError::new(format!("no crate has a program `{name}`")))
}
