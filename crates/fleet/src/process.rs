//! A server's process: a clean environment, its own group, and an end that is certain.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use switchboard_catalog::ServerFailure;
use switchboard_config::{Confinement, EnvCase, NetworkAccess};
use tokio::process::{ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;

use crate::process_group::ProcessGroup;
use crate::program;
use crate::stderr::ErrorLog;

/// The first word that has the keeper's program confine itself and become a server.
pub const CONFINE_COMMAND: &str = "__confine";

/// Why a server that asks for a sandbox does not start.
const NO_SANDBOX: &str = if cfg!(unix) {
    "a sandbox needs a keeper, and this host has none"
} else {
    "there is no sandbox on this system"
};

/// How long a server has to leave after its input is closed.
const EXIT_GRACE: Duration = Duration::from_secs(2);
/// How long the keeper then has: it asks, waits two seconds, and kills.
const KEEPER_GRACE: Duration = Duration::from_millis(2_800);

/// How long the errors of a program that has ended are still read.
const STDERR_DRAIN: Duration = Duration::from_millis(200);

/// How to start a server.
#[derive(Clone, Debug)]
pub struct Launch<'a> {
    /// The program to start.
    pub command: &'a str,
    pub args: &'a [String],
    /// A line for a shell, after its arguments: quotes and spaces in it are the shell's matter.
    pub shell_line: Option<&'a str>,
    /// Variables set in addition to the clean environment.
    pub env: &'a BTreeMap<String, String>,
    /// Working directory; the current one if not set.
    pub cwd: Option<&'a Path>,
    /// The variables of our own environment.
    pub inherited_env: &'a BTreeMap<String, String>,
    /// What it may reach, if not everything.
    pub confinement: &'a Confinement,
    /// The folder for its temporary files, if it has one for itself.
    pub temp_folder: Option<&'a Path>,
    /// A program that stays between us and the server and outlives us just long enough.
    pub keeper: Option<&'a [String]>,
}

/// A running server.
#[derive(Debug)]
pub struct Process {
    group: ProcessGroup,
    errors: JoinHandle<()>,
    has_keeper: bool,
}

impl Process {
    /// Starts a server; gives its input and output.
    pub fn start(
        launch: &Launch<'_>,
        log: &ErrorLog,
    ) -> Result<(Self, ChildStdin, ChildStdout), ServerFailure> {
        let env = server_environment(launch);
        let program = program::find_program(launch, &env)?;
        let mut command = match launch.keeper {
            Some([keeper, words @ ..]) => {
                let mut command = Command::new(keeper);
                command.args(words);
                if let Some(plan) = encode_sandbox_plan(launch)? {
                    command.args([keeper, CONFINE_COMMAND]).arg(plan);
                }
                command.arg(&program);
                command
            }
            _ if matches!(launch.confinement, Confinement::Profile(_)) => {
                return Err(ServerFailure::new(NO_SANDBOX));
            }
            _ => Command::new(&program),
        };
        command.args(launch.args);
        if let Some(line) = launch.shell_line {
            add_shell_line(&mut command, line);
        }
        command
            .env_clear()
            .envs(&env)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some(cwd) = launch.cwd {
            if !cwd.is_dir() {
                return Err(ServerFailure::new(format!("there is no folder `{}`", cwd.display()))
                    .with_hint("create it, or correct `cwd` in the configuration"));
            }
            command.current_dir(cwd);
        }
        let cannot = |error: std::io::Error| {
            ServerFailure::new(format!("cannot start `{}`: {error}", program.display()))
                .with_hint("check `command` and `cwd` in the configuration")
        };
        let (family, pipes) = ProcessGroup::start(command).map_err(cannot)?;
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err(ServerFailure::new("the operating system gave no pipes to the server"));
        };
        let log = log.clone();
        // Ends with the pipe, and is ended by `stop`.
        let errors = tokio::spawn(async move { log.follow(stderr).await });
        Ok((Self { group: family, errors, has_keeper: launch.keeper.is_some() }, stdin, stdout))
    }

    /// Its number, while it has one.
    pub fn id(&self) -> Option<u32> {
        self.group.id()
    }

    /// Waits for the end and says how it came.
    pub async fn wait_for_exit(&mut self) -> Option<String> {
        self.group.wait().await.ok().map(describe_exit)
    }

    /// Waits for the end and for the last of what was written to the errors.
    pub async fn wait_with_stderr(&mut self) -> Option<ExitStatus> {
        let status = self.group.wait().await.ok();
        self.drain_stderr().await;
        status
    }

    /// Waits for the last of what was written to the errors; who still holds them is not waited for.
    pub async fn drain_stderr(&mut self) {
        if !self.errors.is_finished() {
            // A descendant may hold the pipe open; the lines read so far have to do.
            _ = tokio::time::timeout(STDERR_DRAIN, &mut self.errors).await;
        }
    }

    /// Ends the server, whose input has been closed: politely, firmly, for certain.
    pub async fn stop(&mut self) -> Option<String> {
        match self.wait_for_own_exit().await {
            Some(exit) => Some(exit),
            None => self.terminate().await,
        }
    }

    /// How it ended by itself, within the time that is for that.
    pub async fn wait_for_own_exit(&mut self) -> Option<String> {
        let waited = tokio::time::timeout(EXIT_GRACE, self.group.wait()).await;
        waited.ok()?.ok().map(describe_exit)
    }

    /// Ends what did not leave by itself.
    pub async fn terminate(&mut self) -> Option<String> {
        if self.has_keeper {
            // The keeper sees that nobody reads the errors any more, and ends the whole family.
            self.errors.abort();
        } else {
            self.group.terminate();
        }
        if let Ok(status) = tokio::time::timeout(KEEPER_GRACE, self.group.wait()).await {
            return status.ok().map(describe_exit);
        }
        if self.has_keeper {
            // The keeper is about to be done; without it nobody would end the rest.
            return None;
        }
        self.group.kill();
        self.group.wait().await.ok().map(describe_exit)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Without its reader the keeper ends the family, also when nobody had time to call `stop`.
        self.errors.abort();
        if !self.has_keeper {
            self.group.kill();
        }
    }
}

#[cfg(not(windows))]
fn add_shell_line(command: &mut Command, line: &str) {
    command.arg(line);
}

/// The shell takes off one pair of quotes and reads what is between them as it is.
#[cfg(windows)]
fn add_shell_line(command: &mut Command, line: &str) {
    command.raw_arg(format!("\"{line}\""));
}

fn describe_exit(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return format!("killed by signal {signal}");
    }
    match status.code() {
        // The keeper hands on a signal the way shells do.
        Some(code @ 129..=192) if cfg!(unix) => format!("killed by signal {}", code - 128),
        // Windows says so that a program crashed; people look such numbers up in this form.
        Some(code) if code < 0 => format!("exit status {code:#010X}"),
        Some(code) => format!("exit status {code}"),
        None => "ended".to_owned(),
    }
}

/// What a confined process keeps, for the process that takes the rest away.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SandboxPlan {
    pub(crate) read: Vec<PathBuf>,
    pub(crate) write: Vec<PathBuf>,
    /// The folder for its temporary files, beside which those of others are.
    pub(crate) own: Option<PathBuf>,
    pub(crate) has_network: bool,
    pub(crate) memory_bytes: Option<u64>,
    pub(crate) processes: Option<u64>,
    pub(crate) cpu_seconds: Option<u64>,
}

/// The plan for a server as text; none if it is not confined.
fn encode_sandbox_plan(launch: &Launch<'_>) -> Result<Option<String>, ServerFailure> {
    let Confinement::Profile(sandbox) = launch.confinement else { return Ok(None) };
    let number = |most: Option<usize>| most.and_then(|most| u64::try_from(most).ok());
    let with = |paths: &[PathBuf], more: Option<&Path>| -> Vec<PathBuf> {
        paths.iter().cloned().chain(more.map(Path::to_owned)).collect()
    };
    let plan = SandboxPlan {
        read: with(&sandbox.read, launch.cwd),
        write: with(&sandbox.write, launch.temp_folder),
        own: launch.temp_folder.map(Path::to_owned),
        has_network: sandbox.network == NetworkAccess::Open,
        memory_bytes: number(sandbox.memory_mb).map(|most| most.saturating_mul(1 << 20)),
        processes: number(sandbox.processes),
        cpu_seconds: number(sandbox.cpu_seconds),
    };
    serde_json::to_string(&plan).map(Some).map_err(|error| ServerFailure::new(error.to_string()))
}

/// Variables of our own environment that a server may have; all others are ours alone.
const PASSED_VARIABLES: &[&str] = if cfg!(windows) { WINDOWS_VARIABLES } else { UNIX_VARIABLES };

const UNIX_VARIABLES: &[&str] = &[
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR",
    "TERM",
];

/// Without some of these programs do not even open a socket there.
const WINDOWS_VARIABLES: &[&str] = &[
    "PATH", "PATHEXT", "COMSPEC", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "USERNAME", "USERPROFILE",
    "HOMEDRIVE", "HOMEPATH", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES",
    "PROGRAMFILES(X86)", "PROCESSOR_ARCHITECTURE", "NUMBER_OF_PROCESSORS", "TEMP", "TMP", "LANG",
    "TZ",
];

/// The variables by which programs find the folder for temporary files.
const TEMP_DIR_VARIABLES: &[&str] =
    if cfg!(windows) { &["TEMP", "TMP", "TMPDIR"] } else { &["TMPDIR"] };

/// The environment that a server gets.
fn server_environment(launch: &Launch<'_>) -> BTreeMap<String, String> {
    let letters = EnvCase::NATIVE;
    let passed_on =
        |name: &str| PASSED_VARIABLES.iter().any(|kept| kept.eq_ignore_ascii_case(name));
    let mut env: BTreeMap<String, String> = launch
        .inherited_env
        .iter()
        .filter(|(name, _)| passed_on(name))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    if let Some(folder) = launch.temp_folder.and_then(Path::to_str) {
        for name in TEMP_DIR_VARIABLES {
            letters.set(&mut env, (*name).to_owned(), folder.to_owned());
        }
    }
    for (name, value) in launch.env {
        letters.set(&mut env, name.clone(), value.clone());
    }
    env
}
