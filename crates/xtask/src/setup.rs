//! Installs the servers and suites that the tests use, each part once per set of pinned versions.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use crate::error::{Result, XtaskError};
use crate::servers::{self, SERVERS};
use crate::workspace::{Workspace, run, succeeds, with_path};

const FASTMCP_SERVER: &str = include_str!("../testenv/fastmcp_server.py");

/// One folder of the test environment.
struct TestEnvPart {
    name: &'static str,
    pins: &'static str,
    install: fn(&Self, &Path) -> Result<()>,
}

const PARTS: [TestEnvPart; 6] = [
    TestEnvPart {
        name: "npm",
        pins: include_str!("../testenv/package.json"),
        install: install_npm,
    },
    TestEnvPart {
        name: "python",
        pins: include_str!("../testenv/python.txt"),
        install: install_python,
    },
    TestEnvPart {
        name: "python-legacy",
        pins: include_str!("../testenv/python-legacy.txt"),
        install: install_python,
    },
    TestEnvPart {
        name: "grpc",
        pins: include_str!("../testenv/grpc.txt"),
        install: install_wheels,
    },
    TestEnvPart {
        name: "lint",
        pins: include_str!("../testenv/lint.txt"),
        install: install_wheels,
    },
    TestEnvPart {
        name: "browser",
        pins: include_str!("../testenv/browser.json"),
        install: install_browser,
    },
];

/// Installs the named parts, or all of them when none is named.
pub(crate) fn setup(workspace: &Workspace, wanted: &[&str]) -> Result<()> {
    if cfg!(windows) {
        return Err(XtaskError::new("the test environment needs Linux or macOS")
            .with_hint("its tests run only there; here `cargo test --workspace` needs no setup"));
    }
    if let Some(unknown) = wanted.iter().find(|name| PARTS.iter().all(|part| part.name != **name)) {
        return Err(XtaskError::new(format!("`{unknown}` is not a part of the test environment"))
            .with_hint("the parts are npm, python, python-legacy, grpc, lint and browser"));
    }
    let testenv = workspace.testenv();
    with_path("create", &testenv, fs::create_dir_all(&testenv))?;
    // Two runs at a time would install into the same folders.
    let lock_path = testenv.join(".lock");
    let lock = with_path("create", &lock_path, File::create(&lock_path))?;
    with_path("lock", &lock_path, lock.lock())?;
    let sample = testenv.join("fastmcp_server.py");
    with_path("write", &sample, fs::write(&sample, FASTMCP_SERVER))?;
    for part in &PARTS {
        if wanted.is_empty() || wanted.contains(&part.name) {
            ensure(part, &testenv)?;
        }
    }
    Ok(())
}

/// Fails unless the part is installed in the currently pinned versions.
pub(crate) fn require_installed(workspace: &Workspace, name: &str) -> Result<()> {
    let testenv = workspace.testenv();
    if PARTS.iter().any(|part| part.name == name && part.is_current(&testenv)) {
        return Ok(());
    }
    Err(XtaskError::new(format!("part `{name}` of the test environment is not installed"))
        .with_hint(format!("run `cargo xtask setup {name}`")))
}

impl TestEnvPart {
    fn stamp(&self, testenv: &Path) -> PathBuf {
        testenv.join(format!("{}.stamp", self.name))
    }

    /// Returns the stamp of a complete installation. It contains the folder, because a virtual
    /// environment contains absolute paths and does not survive a move.
    fn stamp_text(&self, testenv: &Path) -> String {
        format!("{}\n{}", testenv.join(self.name).display(), self.pins)
    }

    fn is_current(&self, testenv: &Path) -> bool {
        testenv.join(self.name).is_dir()
            && fs::read_to_string(self.stamp(testenv))
                .is_ok_and(|stamp| stamp == self.stamp_text(testenv))
    }
}

fn ensure(part: &TestEnvPart, testenv: &Path) -> Result<()> {
    let name = part.name;
    let folder = testenv.join(name);
    if part.is_current(testenv) {
        println!("{name}: already installed in {}", folder.display());
        return Ok(());
    }
    println!("{name}: installing into {}", folder.display());
    let started = Instant::now();
    let stamp = part.stamp(testenv);
    for leftover in [&stamp, &folder].into_iter().filter(|path| path.exists()) {
        let removed = if leftover.is_dir() {
            fs::remove_dir_all(leftover)
        } else {
            fs::remove_file(leftover)
        };
        with_path("remove", leftover, removed)?;
    }
    with_path("create", &folder, fs::create_dir_all(&folder))?;
    (part.install)(part, &folder)?;
    for server in SERVERS.iter().filter(|server| server.part == name) {
        let waited = servers::start_once(server, testenv)?;
        println!("{name}: {} answers after {:.1} s", server.name, waited.as_secs_f64());
    }
    with_path("write", &stamp, fs::write(&stamp, part.stamp_text(testenv)))?;
    println!("{name}: installed in {:.1} s", started.elapsed().as_secs_f64());
    Ok(())
}

fn install_packages(part: &TestEnvPart, folder: &Path) -> Result<()> {
    let manifest = folder.join("package.json");
    with_path("write", &manifest, fs::write(&manifest, part.pins))?;
    require("npm", Command::new("npm").arg("--version"), &["npm"])?;
    run(Command::new("npm")
        .current_dir(folder)
        .args(["install", "--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error"]))
}

/// Installs the driver only. The browser is the system's, which comes with all its libraries.
fn install_browser(part: &TestEnvPart, folder: &Path) -> Result<()> {
    require("chromium", Command::new("chromium").arg("--version"), &["chromium"])?;
    install_packages(part, folder)
}

fn install_npm(part: &TestEnvPart, folder: &Path) -> Result<()> {
    install_packages(part, folder)?;
    // The package `node` downloads its binary in an install script, which npm may be set to skip.
    let package = folder.join("node_modules/node");
    let node = package.join("bin/node");
    if !succeeds(Command::new(&node).arg("--version")) {
        println!("{}: fetching the Node binary", part.name);
        run(Command::new("node").current_dir(&package).arg("installArchSpecificPackage.js"))?;
    }
    run(Command::new(&node).arg("--version"))
}

fn install_python(part: &TestEnvPart, folder: &Path) -> Result<()> {
    install_with_pip(part, folder, &[])
}

/// Installs prebuilt packages only, because compiling takes longer than all the tests.
fn install_wheels(part: &TestEnvPart, folder: &Path) -> Result<()> {
    install_with_pip(part, folder, &["--only-binary", ":all:"])
}

fn install_with_pip(part: &TestEnvPart, folder: &Path, flags: &[&str]) -> Result<()> {
    let requirements = folder.join("requirements.txt");
    require(
        "python3 with venv",
        Command::new("python3").args(["-c", "import ensurepip, venv"]),
        &["python3", "python3-venv"],
    )?;
    run(Command::new("python3").args(["-m", "venv"]).arg(folder))?;
    with_path("write", &requirements, fs::write(&requirements, part.pins))?;
    run(Command::new(folder.join("bin/python"))
        .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
        .args(flags)
        .arg("--requirement")
        .arg(&requirements))
}

/// Fails unless a program of the system is installed. On Debian, installs it if run as root.
fn require(what: &str, check: &mut Command, packages: &[&str]) -> Result<()> {
    if succeeds(check) {
        return Ok(());
    }
    let names = packages.join(" ");
    if Path::new("/etc/debian_version").exists()
        && succeeds(Command::new("sh").args(["-c", "[ $(id -u) = 0 ]"]))
    {
        println!("{what} is missing; trying apt-get install {names}");
        let apt = |arguments: &[&str]| {
            run(Command::new("apt-get").env("DEBIAN_FRONTEND", "noninteractive").args(arguments))
        };
        let install: Vec<&str> = ["install", "-y"].iter().chain(packages).copied().collect();
        let installed = apt(&install).or_else(|_| apt(&["update"]).and_then(|()| apt(&install)));
        if installed.is_ok() && succeeds(check) {
            return Ok(());
        }
    }
    Err(XtaskError::new(format!("{what} is missing")).with_hint(format!(
        "install it (Debian: apt-get install {names}) and run `cargo xtask setup`"
    )))
}
