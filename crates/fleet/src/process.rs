//! A server's process: a clean environment, a process group, and guaranteed termination.

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

/// The argument that makes the keeper's program confine itself and execute a server.
pub const CONFINE_COMMAND: &str = "__confine";

/// Why a server that requires a sandbox does not start.
const NO_SANDBOX: &str = if cfg!(unix) {
    "a sandbox requires a keeper process, and this host has none"
} else {
    "sandboxes are not supported on this system"
};

/// How long a server may take to exit after its input is closed.
const EXIT_GRACE: Duration = Duration::from_secs(2);
/// How long the keeper then may take: it sends `SIGTERM`, waits two seconds, and kills.
const KEEPER_GRACE: Duration = Duration::from_millis(2_800);

/// How long the standard error of an exited program is still read.
const STDERR_DRAIN: Duration = Duration::from_millis(200);

/// The command, environment and sandbox to start a server with.
#[derive(Clone, Debug)]
pub struct Launch<'a> {
    pub command: &'a str,
    pub args: &'a [String],
    /// A shell command line, passed after `args` without quoting.
    pub shell_line: Option<&'a str>,
    /// Variables set in addition to the clean environment.
    pub env: &'a BTreeMap<String, String>,
    /// Working directory; the current one if not set.
    pub cwd: Option<&'a Path>,
    /// The host's environment, from which the clean one is filtered.
    pub inherited_env: &'a BTreeMap<String, String>,
    pub confinement: &'a Confinement,
    /// The server's private temporary folder, if it has one.
    pub temp_folder: Option<&'a Path>,
    pub keeper: Option<&'a [String]>,
}

/// A running server process.
#[derive(Debug)]
pub struct Process {
    group: ProcessGroup,
    errors: JoinHandle<()>,
    has_keeper: bool,
}

impl Process {
    /// Starts a server; returns the process with its standard input and output.
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
            // Checked here, because `spawn` reports a missing folder as a missing program.
            if !cwd.is_dir() {
                return Err(ServerFailure::new(format!("folder `{}` not found", cwd.display()))
                    .with_hint("create it, or correct `cwd` in the configuration"));
            }
            command.current_dir(cwd);
        }
        let cannot = |error: std::io::Error| {
            ServerFailure::new(format!("cannot start `{}`: {error}", program.display()))
                .with_hint("check `command` and `cwd` in the configuration")
        };
        let (group, pipes) = ProcessGroup::start(command).map_err(cannot)?;
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err(ServerFailure::new("the operating system provided no pipes"));
        };
        let log = log.clone();
        // Ends with the pipe, or is aborted by `stop`.
        let errors = tokio::spawn(async move { log.follow(stderr).await });
        Ok((Self { group, errors, has_keeper: launch.keeper.is_some() }, stdin, stdout))
    }

    /// Returns the process id while the process runs.
    pub fn id(&self) -> Option<u32> {
        self.group.id()
    }

    /// Waits for the server to exit and describes how it did.
    pub async fn wait_for_exit(&mut self) -> Option<String> {
        self.group.wait().await.ok().map(describe_exit)
    }

    /// Waits for the exit and for the rest of standard error.
    pub async fn wait_with_stderr(&mut self) -> Option<ExitStatus> {
        // An error means that the status is lost, which `None` says.
        let status = self.group.wait().await.ok();
        self.drain_stderr().await;
        status
    }

    /// Waits for the rest of standard error, up to a limit.
    pub async fn drain_stderr(&mut self) {
        if !self.errors.is_finished() {
            // A descendant may hold the pipe open; the lines read so far have to do.
            _ = tokio::time::timeout(STDERR_DRAIN, &mut self.errors).await;
        }
    }

    /// Stops the server, whose input has been closed: waits for its exit, then terminates it.
    pub async fn stop(&mut self) -> Option<String> {
        match self.wait_for_own_exit().await {
            Some(exit) => Some(exit),
            None => self.terminate().await,
        }
    }

    /// Waits for the server to exit on its own, up to `EXIT_GRACE`; describes the exit.
    pub async fn wait_for_own_exit(&mut self) -> Option<String> {
        let waited = tokio::time::timeout(EXIT_GRACE, self.group.wait()).await;
        waited.ok()?.ok().map(describe_exit)
    }

    /// Terminates the process group, and kills it if that is not enough.
    pub async fn terminate(&mut self) -> Option<String> {
        if self.has_keeper {
            // Without a reader for standard error, the keeper ends the whole process group.
            self.errors.abort();
        } else {
            self.group.terminate();
        }
        if let Ok(status) = tokio::time::timeout(KEEPER_GRACE, self.group.wait()).await {
            return status.ok().map(describe_exit);
        }
        if self.has_keeper {
            // The keeper is about to finish; killing it would leave the group running.
            return None;
        }
        self.group.kill();
        self.group.wait().await.ok().map(describe_exit)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Without its reader the keeper ends the group, even if `stop` was never called.
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

/// `cmd.exe` strips one pair of quotes and takes the text between them literally.
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
        // The keeper passes on a signal as 128 + n, as shells do.
        Some(code @ 129..=192) if cfg!(unix) => format!("killed by signal {}", code - 128),
        // Windows reports crashes as negative codes, which people look up in hexadecimal.
        Some(code) if code < 0 => format!("exit status {code:#010X}"),
        Some(code) => format!("exit status {code}"),
        None => "ended".to_owned(),
    }
}

/// The resources that a confined process keeps, for the process that confines itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SandboxPlan {
    pub(crate) read: Vec<PathBuf>,
    pub(crate) write: Vec<PathBuf>,
    /// The server's temporary folder; its siblings belong to other servers and are hidden.
    pub(crate) own: Option<PathBuf>,
    pub(crate) has_network: bool,
    pub(crate) memory_bytes: Option<u64>,
    pub(crate) processes: Option<u64>,
    pub(crate) cpu_seconds: Option<u64>,
}

/// Encodes the sandbox plan of a server; `None` if it is not confined.
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

/// Variables that a server inherits. All others are removed, since the host's environment may
/// contain secrets of other programs.
const PASSED_VARIABLES: &[&str] = if cfg!(windows) { WINDOWS_VARIABLES } else { UNIX_VARIABLES };

const UNIX_VARIABLES: &[&str] = &[
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR",
    "TERM",
];

/// Without some of these, Windows programs cannot even open a socket.
const WINDOWS_VARIABLES: &[&str] = &[
    "PATH", "PATHEXT", "COMSPEC", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "USERNAME", "USERPROFILE",
    "HOMEDRIVE", "HOMEPATH", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES",
    "PROGRAMFILES(X86)", "PROCESSOR_ARCHITECTURE", "NUMBER_OF_PROCESSORS", "TEMP", "TMP", "LANG",
    "TZ",
];

const TEMP_DIR_VARIABLES: &[&str] =
    if cfg!(windows) { &["TEMP", "TMP", "TMPDIR"] } else { &["TMPDIR"] };

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
    // Last, so that an entry can override any inherited variable.
    for (name, value) in launch.env {
        letters.set(&mut env, name.clone(), value.clone());
    }
    env
}
