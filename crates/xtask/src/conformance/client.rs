//! The client scenarios against our client.

use std::ffi::OsStr;
use std::path::Path;

use crate::error::Result;
use crate::workspace::Workspace;

use super::suite::{SuiteNetwork, SuiteRun, built_program};

/// The program that the suite drives: a binary or an example of the CLI's crate.
const CLIENT: &str = "switchboard-conformance-client";

const REVISIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];

/// Returns the runs that were not well.
pub(super) fn run(workspace: &Workspace) -> Result<Vec<String>> {
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
        if !run.run_with_retry(workspace)? {
            failed.push(run.name);
        }
    }
    Ok(failed)
}
