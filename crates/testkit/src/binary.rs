//! Locates the fixture binary next to the running test, and builds it if it is missing or stale.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::SystemTime;

/// Path of the built `switchboard-testkit`.
///
/// Running the tests of another package builds this library but not its binary, so the binary is
/// built here, once per test process, when it is absent or older than its sources.
pub fn binary() -> PathBuf {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(locate).clone()
}

fn locate() -> PathBuf {
    let profile = profile_directory();
    let binary = profile.join(format!("switchboard-testkit{}", std::env::consts::EXE_SUFFIX));
    if !is_fresh(&binary) {
        build("switchboard-testkit", &profile);
    }
    assert!(binary.is_file(), "no fixture binary at `{}` after building it", binary.display());
    binary
}

/// `target/debug` for a test at `target/debug/deps/name-hash` or a program at `target/debug/name`.
fn profile_directory() -> PathBuf {
    let running = std::env::current_exe().expect("the path of the running test is known");
    let parent = running.parent().expect("an executable lies in a directory");
    let inner = ["deps", "examples"].iter().any(|name| parent.ends_with(name));
    let profile = if inner { parent.parent() } else { Some(parent) };
    profile.expect("a test executable lies below a profile directory").to_owned()
}

fn is_fresh(binary: &Path) -> bool {
    let Some(built) = modified_at(binary) else { return false };
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    // A copied test executable has no sources to compare with; any binary is fresh enough then.
    newest_source(&sources).is_none_or(|changed| changed <= built)
}

fn modified_at(path: &Path) -> Option<SystemTime> {
    path.metadata().ok()?.modified().ok()
}

fn newest_source(directory: &Path) -> Option<SystemTime> {
    let entries = std::fs::read_dir(directory).ok()?;
    entries
        .filter_map(Result::ok)
        .filter_map(|entry| {
            let path = entry.path();
            if path.is_dir() { newest_source(&path) } else { modified_at(&path) }
        })
        .max()
}

/// Builds the binaries of a workspace package into the profile directory of the running test.
pub fn build(package: &str, profile: &Path) {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(env!("CARGO_MANIFEST_DIR"));
    command.args(["build", "--quiet", "--package", package, "--bins"]);
    match profile.file_name().and_then(|name| name.to_str()) {
        // The folder of the `dev` profile, which needs no flag.
        Some("debug") | None => {}
        Some(name) => {
            command.args(["--profile", name]);
        }
    }
    if let Some(target) = profile.parent() {
        command.arg("--target-dir").arg(target);
    }
    let status = command.status().expect("cargo can be started");
    assert!(status.success(), "building `{package}` ended with {status}");
}
