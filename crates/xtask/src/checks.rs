//! Everything that must pass before a change is kept, and the benchmarks.

use std::process::Command;
use std::time::Instant;

use crate::conformance;
use crate::error::{Result, XtaskError};
use crate::setup;
use crate::workspace::{Workspace, run, succeeds};

const BENCHMARKS: &str = "switchboard-bench";

/// The profile of what is shipped, which is what benchmarks measure.
const DIST: &str = "dist";

/// One selection for every build, since cargo unites features over what is selected and would
/// otherwise build the same crates twice. The benchmarks bring crates that no test needs.
const PACKAGE_SELECTION: [&str; 3] = ["--workspace", "--exclude", BENCHMARKS];

type CheckStep = (&'static str, fn(&Workspace) -> Result<()>);

/// The steps in the order in which they find mistakes soonest.
const STEPS: [CheckStep; 7] = [
    ("setup", |workspace| setup::setup(workspace, &[])),
    ("format", |workspace| cargo(workspace, &["fmt", "--all", "--check"])),
    ("clippy", |workspace| {
        cargo(workspace, &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])
    }),
    ("build", build),
    ("tests", tests),
    ("doc tests", |workspace| {
        run(workspace.cargo().args(["test", "--doc"]).args(PACKAGE_SELECTION))
    }),
    ("conformance", |workspace| conformance::conformance(workspace, &[])),
];

/// Runs every step and stops at the first that fails.
pub(crate) fn test(workspace: &Workspace) -> Result<()> {
    steps(workspace, &STEPS)
}

/// The same without setting up.
pub(crate) fn quick_test(workspace: &Workspace) -> Result<()> {
    steps(workspace, STEPS.get(1..).unwrap_or_default())
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

/// Runs the benchmarks, which compare us with the official SDKs.
pub(crate) fn bench(workspace: &Workspace, arguments: &[&str]) -> Result<()> {
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

/// Measures the program itself, so that it is built too.
fn bench_program(workspace: &Workspace, arguments: &[&str]) -> Result<()> {
    let programs =
        ["--package", "switchboard", "--package", BENCHMARKS, "--package", "switchboard-testkit"];
    run(workspace.cargo().args(["build", "--profile", DIST, "--bins"]).args(programs))?;
    let program = workspace.target.join(DIST).join(BENCHMARKS);
    run(Command::new(program).args(arguments).env("SWITCHBOARD_TESTENV", workspace.testenv()))
}

/// Builds every library, program and example but the benchmarks.
pub(crate) fn build(workspace: &Workspace) -> Result<()> {
    run(workspace.cargo().args(["build", "--lib", "--bins", "--examples"]).args(PACKAGE_SELECTION))
}

fn tests(workspace: &Workspace) -> Result<()> {
    if succeeds(workspace.cargo().args(["nextest", "--version"])) {
        return run(workspace.cargo().args(["nextest", "run"]).args(PACKAGE_SELECTION));
    }
    println!("cargo-nextest is not installed; using cargo test");
    run(workspace
        .cargo()
        .args(["test", "--lib", "--bins", "--tests", "--examples"])
        .args(PACKAGE_SELECTION))
}

fn cargo(workspace: &Workspace, arguments: &[&str]) -> Result<()> {
    run(workspace.cargo().args(arguments)).map_err(|failure| match arguments.first() {
        Some(&"fmt") => {
            XtaskError::new("some files are not formatted").with_hint("run `cargo fmt --all`")
        }
        _ => failure,
    })
}
