//! `cargo xtask`: sets up, checks and measures this repository.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "printing is what this program is for"
)]

mod checks;
mod conformance;
mod error;
mod servers;
mod setup;
mod sizes;
mod slowest;
mod workspace;

use std::env;
use std::process::ExitCode;

use error::{Result, XtaskError};
use workspace::Workspace;

const HELP: &str = "\
Usage: cargo xtask <command>

  setup [part...]    install what the tests need below target/testenv; parts: npm, python, python-legacy, grpc, lint, browser
  test [--quick]     everything that must pass; --quick: format, unit tests and fast end-to-end tests
  conformance [part...]  the official suite; parts: client, gateway
  sizes [--build]    lines of code and crates; --build also times a clean release build
  bench [args...]    the benchmarks, with args passed on
  help               this text";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match dispatch(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(words: &[&str]) -> Result<()> {
    let workspace = Workspace::find()?;
    match words {
        ["setup", parts @ ..] => setup::setup(&workspace, parts),
        ["test"] => checks::test(&workspace),
        ["test", "--quick"] => checks::quick_test(&workspace),
        ["conformance", parts @ ..] => conformance::conformance(&workspace, parts),
        ["sizes"] => sizes::sizes(&workspace),
        ["sizes", "--build"] => sizes::with_build(&workspace),
        ["bench", arguments @ ..] => checks::bench(&workspace, arguments),
        [] | ["help" | "--help" | "-h", ..] => {
            println!("{HELP}");
            Ok(())
        }
        other => Err(XtaskError::new(format!("`{}` is not a command of xtask", other.join(" ")))
            .with_hint("`cargo xtask help` lists the commands")),
    }
}
