//! A server's process: a clean environment, its own group, and an end that is certain.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::process::{ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;

use crate::config::Confinement;
use crate::connect::Failure;
use crate::connect::family::Family;
use crate::connect::plan;
use crate::connect::stderr::ErrorLog;

/// Variables of our own environment that a server may have; all others are ours alone.
const PASSED_ON: &[&str] = if cfg!(windows) {
    &[
        "PATH",
        "USERNAME",
        "USERPROFILE",
        "HOMEDRIVE",
        "HOMEPATH",
        "LANG",
        "TZ",
        "TEMP",
        "TMP",
        "SYSTEMROOT",
        "SYSTEMDRIVE",
        "APPDATA",
        "LOCALAPPDATA",
        "PROGRAMFILES",
        "COMSPEC",
        "PATHEXT",
    ]
} else {
    &[
        "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR",
        "TERM",
    ]
};

/// The first word that has the keeper's program confine itself and become a server.
pub const CONFINER: &str = "__confine";

/// How long a server has to leave after its input is closed.
const POLITE: Duration = Duration::from_secs(2);
/// How long the keeper then has: it asks, waits two seconds, and kills.
const FIRM: Duration = Duration::from_millis(2_800);

/// How long the errors of a program that has ended are still read.
const LAST_ERRORS: Duration = Duration::from_millis(200);

/// How to start a server.
#[derive(Clone, Debug)]
pub(crate) struct Launch<'a> {
    pub(crate) command: &'a str,
    pub(crate) args: &'a [String],
    pub(crate) env: &'a BTreeMap<String, String>,
    pub(crate) cwd: Option<&'a Path>,
    /// The variables of our own environment.
    pub(crate) surroundings: &'a BTreeMap<String, String>,
    /// What it may reach, if not everything.
    pub(crate) confinement: &'a Confinement,
    /// The folder for its temporary files, if it has one for itself.
    pub(crate) own_folder: Option<&'a Path>,
    /// A program that stays between us and the server and outlives us just long enough.
    pub(crate) keeper: Option<&'a [String]>,
}

/// A running server.
#[derive(Debug)]
pub(crate) struct Process {
    family: Family,
    errors: JoinHandle<()>,
    kept: bool,
}

impl Process {
    /// Starts a server; gives its input and output.
    pub(crate) fn start(
        launch: &Launch<'_>,
        log: &ErrorLog,
    ) -> Result<(Self, ChildStdin, ChildStdout), Failure> {
        let env = environment(launch);
        let program = find(launch, &env)?;
        let mut command = match launch.keeper {
            Some([keeper, words @ ..]) => {
                let mut command = Command::new(keeper);
                command.args(words);
                if let Some(plan) = plan::of(launch)? {
                    command.args([keeper, CONFINER]).arg(plan);
                }
                command.arg(&program);
                command
            }
            _ if matches!(launch.confinement, Confinement::Profile(_)) => {
                return Err(Failure::new("a sandbox needs a keeper, and this host has none"));
            }
            _ => Command::new(&program),
        };
        command
            .args(launch.args)
            .env_clear()
            .envs(&env)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some(cwd) = launch.cwd {
            command.current_dir(cwd);
        }
        let cannot = |error: std::io::Error| {
            Failure::new(format!("cannot start `{}`: {error}", program.display()))
                .with_hint("check `command` and `cwd` in the configuration")
        };
        let (family, pipes) = Family::start(command).map_err(cannot)?;
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err(Failure::new("the operating system gave no pipes to the server"));
        };
        let log = log.clone();
        // Ends with the pipe, and is ended by `stop`.
        let errors = tokio::spawn(async move { log.follow(stderr).await });
        Ok((Self { family, errors, kept: launch.keeper.is_some() }, stdin, stdout))
    }

    /// Waits for the end and says how it came.
    pub(crate) async fn ended(&mut self) -> Option<String> {
        self.family.wait().await.ok().map(describe)
    }

    /// Waits for the end and for the last of what was written to the errors.
    pub(crate) async fn finished(&mut self) -> Option<ExitStatus> {
        let status = self.family.wait().await.ok();
        tokio::time::timeout(LAST_ERRORS, &mut self.errors).await.ok();
        status
    }

    /// Ends the server, whose input has been closed: politely, firmly, for certain.
    pub(crate) async fn stop(&mut self) -> Option<String> {
        if let Ok(status) = tokio::time::timeout(POLITE, self.family.wait()).await {
            return status.ok().map(describe);
        }
        if self.kept {
            // The keeper sees that nobody reads the errors any more, and ends the whole family.
            self.errors.abort();
        } else {
            self.family.ask_to_end();
        }
        if let Ok(status) = tokio::time::timeout(FIRM, self.family.wait()).await {
            return status.ok().map(describe);
        }
        if self.kept {
            // The keeper is about to be done; without it nobody would end the rest.
            return None;
        }
        self.family.kill();
        self.family.wait().await.ok().map(describe)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Without its reader the keeper ends the family, also when nobody had time to call `stop`.
        self.errors.abort();
        if !self.kept {
            self.family.kill();
        }
    }
}

/// The environment that a server gets.
fn environment(launch: &Launch<'_>) -> BTreeMap<String, String> {
    let passed_on = |name: &str| PASSED_ON.iter().any(|kept| kept.eq_ignore_ascii_case(name));
    let mut env: BTreeMap<String, String> = launch
        .surroundings
        .iter()
        .filter(|(name, _)| passed_on(name))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    if let Some(folder) = launch.own_folder.and_then(Path::to_str) {
        env.insert("TMPDIR".to_owned(), folder.to_owned());
    }
    env.extend(launch.env.clone());
    env
}

/// Finds the program once, so that what was checked is what runs.
fn find(launch: &Launch<'_>, env: &BTreeMap<String, String>) -> Result<PathBuf, Failure> {
    let command = Path::new(launch.command);
    if command.components().count() > 1 || command.is_absolute() {
        let base = launch.cwd.unwrap_or(Path::new(""));
        let path = if command.is_absolute() { command.to_owned() } else { base.join(command) };
        let path = std::path::absolute(&path).unwrap_or(path);
        return match check(&path) {
            Found::Program => Ok(path),
            Found::NotExecutable => Err(not_executable(&path)),
            Found::Nothing => {
                Err(Failure::new(format!("there is no program `{}`", path.display()))
                    .with_hint("set `command` to the full path of the program"))
            }
        };
    }
    let path = env.get("PATH").map(String::as_str).unwrap_or_default();
    let mut not_runnable = None;
    // A folder that depends on where we stand could hold a program of whoever made that folder.
    for folder in std::env::split_paths(path).filter(|folder| folder.is_absolute()) {
        for candidate in candidates(&folder.join(command)) {
            match check(&candidate) {
                Found::Program => return Ok(candidate),
                Found::NotExecutable => not_runnable = Some(candidate),
                Found::Nothing => {}
            }
        }
    }
    Err(match not_runnable {
        Some(path) => not_executable(&path),
        None => Failure::new(format!("the command `{}` was not found on PATH", launch.command))
            .with_hint(install_hint(launch.command)),
    })
}

fn install_hint(command: &str) -> String {
    match command {
        "npx" | "node" | "npm" => "install Node.js, or set `command` to its full path".to_owned(),
        "uvx" | "uv" => "install uv, or set `command` to its full path".to_owned(),
        "docker" => "install Docker, or set `command` to its full path".to_owned(),
        _ => format!("install `{command}`, or set `command` to its full path"),
    }
}

fn not_executable(path: &Path) -> Failure {
    Failure::new(format!("`{}` may not be executed", path.display()))
        .with_hint(format!("run `chmod +x {}`, or choose another `command`", path.display()))
}

enum Found {
    Program,
    NotExecutable,
    Nothing,
}

#[cfg(unix)]
fn check(path: &Path) -> Found {
    use rustix::fs::{Access, access};
    match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => match access(path, Access::EXEC_OK) {
            Ok(()) => Found::Program,
            Err(_) => Found::NotExecutable,
        },
        _ => Found::Nothing,
    }
}

#[cfg(not(unix))]
fn check(path: &Path) -> Found {
    if path.is_file() { Found::Program } else { Found::Nothing }
}

#[cfg(unix)]
fn candidates(path: &Path) -> [PathBuf; 1] {
    [path.to_owned()]
}

/// On Windows `npx` is `npx.cmd`.
#[cfg(not(unix))]
fn candidates(path: &Path) -> [PathBuf; 4] {
    let with = |ending: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        PathBuf::from(name)
    };
    [path.to_owned(), with(".exe"), with(".cmd"), with(".bat")]
}

fn describe(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return format!("killed by signal {signal}");
    }
    match status.code() {
        // The keeper hands on a signal the way shells do.
        Some(code @ 129..=192) => format!("killed by signal {}", code - 128),
        Some(code) => format!("exit status {code}"),
        None => "ended".to_owned(),
    }
}
