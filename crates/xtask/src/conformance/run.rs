//! Runs the parts of the suite and reports the runs that failed.

use std::ffi::OsStr;
use std::path::Path;

use super::gateway;
use super::suite::{SuiteNetwork, SuiteRun, built_program};
use crate::error::{Result, XtaskError};
use crate::workspace::Workspace;
use crate::{checks, setup};

/// Runs every wanted part, even after a failure, so that one run reports all failures.
pub(crate) fn conformance(workspace: &Workspace, wanted: &[&str]) -> Result<()> {
    setup::require_installed(workspace, "npm")?;
    checks::build(workspace)?;
    let mut failed = Vec::new();
    if wanted.is_empty() || wanted.contains(&"client") {
        failed.extend(run_client(workspace)?);
    }
    if wanted.is_empty() || wanted.contains(&"gateway") {
        failed.extend(gateway::run(workspace)?);
    }
    if failed.is_empty() {
        return Ok(());
    }
    Err(XtaskError::new(format!("not everything conforms: {}", failed.join(", ")))
        .with_hint("the files `conformance-*.yml` in crates/xtask/testenv list what may fail"))
}

/// The program that the suite drives: a binary or an example of the CLI's crate.
const CLIENT: &str = "switchboard-conformance-client";

const REVISIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];

/// Returns the names of the runs that failed.
fn run_client(workspace: &Workspace) -> Result<Vec<String>> {
    let client = built_program(workspace, CLIENT)?;
    // The suite splits the command at spaces, so the path is given relative to the target folder.
    let relative = client.strip_prefix(&workspace.target).unwrap_or(&client);
    let command = Path::new(".").join(relative);
    let mut failed = Vec::new();
    for revision in REVISIONS {
        let run = SuiteRun {
            name: format!("client-{revision}"),
            revision,
            arguments: vec![OsStr::new("client"), OsStr::new("--command"), command.as_os_str()],
            baseline: "conformance-baseline.yml",
            network: SuiteNetwork::Own,
            idle: &[],
        };
        if !run.run(workspace)? {
            failed.push(run.name);
        }
    }
    Ok(failed)
}
