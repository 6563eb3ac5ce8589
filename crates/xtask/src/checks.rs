//! The checks that every change must pass, and the benchmarks.

use std::process::Command;
use std::time::Instant;

use crate::conformance;
use crate::error::{Result, XtaskError};
use crate::workspace::{Workspace, run, succeeds};
use crate::{setup, slowest};

const BENCHMARKS: &str = "switchboard-bench";

/// Profile of the shipped program, which is what the benchmarks measure.
const DIST: &str = "dist";

/// The packages of every build. One selection for all, because cargo unifies features over the
/// selected packages and would otherwise build the same crates twice. The benchmarks are excluded,
/// because they need crates that no test needs.
const PACKAGE_SELECTION: [&str; 3] = ["--workspace", "--exclude", BENCHMARKS];

type CheckStep = (&'static str, fn(&Workspace) -> Result<()>);

/// The steps, in the order that finds mistakes soonest.
const STEPS: [CheckStep; 9] = [
    ("setup", |workspace| setup::setup(workspace, &[])),
    ("format", |workspace| cargo(workspace, &["fmt", "--all", "--check"])),
    ("spelling", spelling),
    ("clippy", |workspace| {
        cargo(workspace, &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])
    }),
    ("documentation", documentation),
    ("build", build),
    ("tests", |workspace| tests(workspace, "default")),
    ("doc tests", |workspace| {
        run(workspace.cargo().args(["test", "--doc"]).args(PACKAGE_SELECTION))
    }),
    ("conformance", |workspace| conformance::conformance(workspace, &[])),
];

/// The steps to run between edits: less than five minutes, without setup and slow tests.
const QUICK_STEPS: [CheckStep; 2] = [
    ("format", |workspace| cargo(workspace, &["fmt", "--all", "--check"])),
    ("tests", |workspace| tests(workspace, "quick")),
];

/// Runs every step and stops at the first failure.
pub(crate) fn test(workspace: &Workspace) -> Result<()> {
    steps(workspace, &STEPS)
}

/// Runs the format check, the unit tests and the fast end-to-end tests.
pub(crate) fn quick_test(workspace: &Workspace) -> Result<()> {
    steps(workspace, &QUICK_STEPS)
}

fn steps(workspace: &Workspace, steps: &[CheckStep]) -> Result<()> {
    let mut passed = 0;
    for (name, step) in steps {
        println!("==> {name}");
        let started = Instant::now();
        let outcome = step(workspace);
        let seconds = started.elapsed().as_secs_f64();
        if let Err(failure) = outcome {
            println!("<== {name} failed after {seconds:.1} s");
            return Err(failure);
        }
        println!("<== {name} passed in {seconds:.1} s");
        passed += 1;
    }
    println!("{passed} steps passed");
    Ok(())
}

/// Installs what the wanted benchmarks need, and runs them.
pub(crate) fn bench(workspace: &Workspace, arguments: &[&str]) -> Result<()> {
    // Neither compares with another SDK, so they need no setup.
    if matches!(arguments.first(), Some(&("soak" | "restarts"))) {
        return bench_program(workspace, arguments);
    }
    if arguments.contains(&"console") {
        setup::setup(workspace, &["npm", "browser"])?;
        return bench_program(workspace, arguments);
    }
    setup::setup(workspace, &["npm", "python"])?;
    if arguments.contains(&"gateway") {
        return bench_program(workspace, arguments);
    }
    let mut command = workspace.cargo();
    command.args(["run", "--profile", DIST, "--package", BENCHMARKS, "--"]).args(arguments);
    run(&mut command)
}

/// Builds and runs the benchmarks together with the program, which they start.
fn bench_program(workspace: &Workspace, arguments: &[&str]) -> Result<()> {
    let programs =
        ["--package", "switchboard", "--package", BENCHMARKS, "--package", "switchboard-testkit"];
    run(workspace.cargo().args(["build", "--profile", DIST, "--bins"]).args(programs))?;
    let program = workspace.target.join(DIST).join(BENCHMARKS);
    run(Command::new(program).args(arguments).env("SWITCHBOARD_TESTENV", workspace.testenv()))
}

/// Builds every library, program and example except the benchmarks.
pub(crate) fn build(workspace: &Workspace) -> Result<()> {
    run(workspace.cargo().args(["build", "--lib", "--bins", "--examples"]).args(PACKAGE_SELECTION))
}

/// Runs the tests that a nextest profile selects, and prints the slowest ones.
fn tests(workspace: &Workspace, profile: &str) -> Result<()> {
    if !succeeds(workspace.cargo().args(["nextest", "--version"])) {
        return Err(XtaskError::new("cargo-nextest is not installed")
            .with_hint("run `cargo install --locked cargo-nextest`"));
    }
    let outcome = run(workspace
        .cargo()
        .args(["nextest", "run", "--profile", profile])
        .args(PACKAGE_SELECTION));
    // Also after a failure: a test that hung until it was killed is listed here.
    slowest::print(&workspace.target.join("nextest").join(profile).join("junit.xml"))?;
    outcome
}

/// Checks the spelling of code and documentation. `_typos.toml` lists the exceptions.
fn spelling(workspace: &Workspace) -> Result<()> {
    setup::require_installed(workspace, "lint")?;
    run(Command::new(workspace.testenv().join("lint/bin/typos")).current_dir(&workspace.root))
}

/// Builds the documentation of every crate, with broken links as errors.
fn documentation(workspace: &Workspace) -> Result<()> {
    let mut command = workspace.cargo();
    command.args(["doc", "--no-deps"]).args(PACKAGE_SELECTION).env("RUSTDOCFLAGS", "-D warnings");
    run(&mut command)
}

fn cargo(workspace: &Workspace, arguments: &[&str]) -> Result<()> {
    run(workspace.cargo().args(arguments)).map_err(|failure| match arguments.first() {
        Some(&"fmt") => {
            XtaskError::new("some files are not formatted").with_hint("run `cargo fmt --all`")
        }
        _ => failure,
    })
}
