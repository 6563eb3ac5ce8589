//! Runs the official suite's client scenarios against our client and sums up each revision.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::checks;
use crate::failure::{Failure, Result};
use crate::setup;
use crate::workspace::{Workspace, on_file, succeeds};

/// The program that the suite drives: a binary or an example of the CLI's crate.
const CLIENT: &str = "switchboard-conformance-client";

const REVISIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];
const BASELINE: &str = "crates/xtask/testenv/conformance-baseline.yml";
const SUITE: &str = "npm/node_modules/@modelcontextprotocol/conformance/dist/index.js";
const NODE: &str = "npm/node_modules/node/bin/node";

/// Runs every revision, also after one failed, so that one run shows everything.
pub(crate) fn conformance(workspace: &Workspace) -> Result<()> {
    setup::installed(workspace, "npm")?;
    let client = built_client(workspace)?;
    let mut failed = Vec::new();
    for revision in REVISIONS {
        let folder = workspace.target.join("conformance").join(revision);
        let (printed, ended_well) = run_suite(workspace, revision, &client, &folder)?;
        let summary = Summary::read(&printed);
        println!("{revision}: {}", summary.sentence());
        let complaints = summary.complaints();
        for complaint in &complaints {
            println!("  {complaint}");
        }
        if !ended_well || !complaints.is_empty() || summary == Summary::default() {
            println!("  details: {}", folder.display());
            failed.push(revision);
        }
    }
    if failed.is_empty() {
        return Ok(());
    }
    Err(Failure::new(format!("the client does not conform to {}", failed.join(" and ")))
        .hint(format!("`{BASELINE}` lists the scenarios that may fail")))
}

fn built_client(workspace: &Workspace) -> Result<PathBuf> {
    checks::build(workspace)?;
    let debug = workspace.target.join("debug");
    [debug.join(CLIENT), debug.join("examples").join(CLIENT)]
        .into_iter()
        .find(|path| path.is_file())
        .ok_or_else(|| {
            Failure::new(format!("no crate has a program `{CLIENT}`"))
                .hint("the suite starts it with the server's URL as its last argument")
        })
}

/// Returns what the suite printed and whether it was content.
fn run_suite(
    workspace: &Workspace,
    revision: &str,
    client: &Path,
    folder: &Path,
) -> Result<(String, bool)> {
    if folder.exists() {
        on_file("remove", folder, fs::remove_dir_all(folder))?;
    }
    on_file("create", folder, fs::create_dir_all(folder))?;
    let log = folder.join("suite.log");
    let file = on_file("create", &log, File::create(&log))?;
    let second = on_file("open", &log, file.try_clone())?;
    let testenv = workspace.testenv();
    // The suite splits the command at spaces, so the path is given relative to the target folder.
    let relative = client.strip_prefix(&workspace.target).unwrap_or(client);
    let status = confined(&testenv.join(NODE))
        .arg(testenv.join(SUITE))
        .args(["client", "--requirements", revision, "--command"])
        .arg(Path::new(".").join(relative))
        .arg("--expected-failures")
        .arg(workspace.root.join(BASELINE))
        .arg("--output-dir")
        .arg(folder)
        .current_dir(&workspace.target)
        .stdin(Stdio::null())
        .stdout(file)
        .stderr(second)
        .status()
        .map_err(|cause| Failure::new(format!("the conformance suite did not start: {cause}")))?;
    Ok((on_file("read", &log, fs::read_to_string(&log))?, status.success()))
}

/// The suite listens on every interface; where the system lets us, it gets a network of its own.
fn confined(program: &Path) -> Command {
    let only_loopback = ["-n", "sh", "-c", "ip link set lo up && exec \"$@\"", "sh"];
    if succeeds(Command::new("unshare").args(only_loopback).arg("true")) {
        let mut command = Command::new("unshare");
        command.args(only_loopback).arg(program);
        return command;
    }
    Command::new(program)
}

/// What the suite printed after its last scenario.
#[derive(Debug, Default, PartialEq, Eq)]
struct Summary {
    passed: usize,
    failed: usize,
    /// Listed in the baseline, and they did fail.
    expected: Vec<String>,
    /// Listed in the baseline although they pass.
    stale: Vec<String>,
    unexpected: Vec<String>,
    /// Counted as passed by the suite although nothing was checked.
    empty: Vec<String>,
}

impl Summary {
    fn read(printed: &str) -> Self {
        let mut summary = Self::default();
        let mut heading = "";
        for line in printed.lines().skip_while(|line| !line.contains("SUITE SUMMARY")) {
            let (mark, name) = line.trim().split_once(' ').unwrap_or_default();
            if !matches!(mark, "✓" | "✗" | "~") {
                heading = line;
            } else if let Some((scenario, counts)) = name.split_once(": ") {
                if counts.starts_with("0 passed, 0 failed") {
                    summary.empty.push(scenario.to_owned());
                } else if mark == "✓" {
                    summary.passed += 1;
                } else {
                    summary.failed += 1;
                }
            } else if heading.contains("Expected failures") {
                summary.expected.push(name.to_owned());
            } else if heading.contains("Stale baseline entries") {
                summary.stale.push(name.to_owned());
            } else if heading.contains("Unexpected failures") {
                summary.unexpected.push(name.to_owned());
            }
        }
        summary
    }

    /// The suite judges only what the revision requires; other failures are in neither list.
    fn sentence(&self) -> String {
        let judged = self.expected.len() + self.unexpected.len();
        format!(
            "{} scenarios passed, {} failed as expected, {} failed unexpectedly, {} failed unscored",
            self.passed,
            self.expected.len(),
            self.unexpected.len(),
            self.failed.saturating_sub(judged)
        )
    }

    fn complaints(&self) -> Vec<String> {
        let kinds = [
            ("failed", &self.unexpected),
            ("passed, so the baseline must not list it", &self.stale),
            ("checked nothing", &self.empty),
        ];
        kinds
            .into_iter()
            .flat_map(|(what, names)| names.iter().map(move |name| format!("{name}: {what}")))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Summary;

    const PRINTED: &str = "\
Results saved to out/initialize
=== SUITE SUMMARY ===

✓ initialize: 0 passed, 0 failed
✓ tools_call: 3 passed, 0 failed
✗ sse-retry: 1 passed, 2 failed
✗ auth/metadata-default: 0 passed, 7 failed
✓ auth/pre-registration: 4 passed, 0 failed
✗ auth/dpop: 0 passed, 3 failed

Total: 8 passed, 12 failed, 0 warnings

\u{1b}[33mExpected failures (in baseline):\u{1b}[0m
  ~ auth/metadata-default

\u{1b}[31mStale baseline entries (now passing - remove from baseline):\u{1b}[0m
  ✓ auth/pre-registration

\u{1b}[31mUnexpected failures (not in baseline):\u{1b}[0m
  ✗ sse-retry

\u{1b}[31mUnexpected failures detected: these are not in your expected-failures baseline.\u{1b}[0m
";

    #[test]
    fn every_scenario_is_counted_under_its_heading() {
        let summary = Summary::read(PRINTED);

        assert_eq!(
            summary.sentence(),
            "2 scenarios passed, 1 failed as expected, 1 failed unexpectedly, 1 failed unscored"
        );
        assert_eq!(
            summary.complaints(),
            [
                "sse-retry: failed",
                "auth/pre-registration: passed, so the baseline must not list it",
                "initialize: checked nothing",
            ]
        );
    }

    #[test]
    fn output_without_a_summary_counts_nothing() {
        assert_eq!(Summary::read("✗ crashed: 1 passed, 0 failed"), Summary::default());
    }
}
