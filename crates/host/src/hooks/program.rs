//! Runs the program of a hook: writes its input, reads its output, and ends its process tree.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use switchboard_config::Confinement;
use switchboard_fleet::{ErrorLog, Launch, Process};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::time::timeout;

/// Maximum size of an answer.
pub(super) const MAX_OUTPUT_BYTES: usize = 64 * 1024;
/// Maximum number of trailing lines of standard error that are kept.
const MAX_ERROR_LINES: usize = 5;

/// How a hook ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum HookExit {
    Exited(i32),
    /// Killed, timed out, or not started.
    Broke(String),
    OutputTooLong,
}

#[derive(Clone, Debug)]
pub(super) struct HookOutput {
    pub(super) end: HookExit,
    pub(super) output: Vec<u8>,
    pub(super) errors: Vec<String>,
}

/// The program to start and its environment.
pub(super) struct HookLaunch<'a> {
    pub(super) program: &'a str,
    pub(super) args: &'a [String],
    pub(super) shell_line: Option<&'a str>,
    pub(super) folder: &'a Path,
    pub(super) env: &'a BTreeMap<String, String>,
    pub(super) inherited_env: &'a BTreeMap<String, String>,
    pub(super) keeper: Option<&'a [String]>,
}

impl HookOutput {
    pub(super) fn from_failure(what: impl Into<String>) -> Self {
        Self { end: HookExit::Broke(what.into()), output: Vec::new(), errors: Vec::new() }
    }
}

/// Runs a program with `input` and waits for its end, at most for `limit`.
pub(super) async fn run_program(
    start: &HookLaunch<'_>,
    input: &str,
    limit: Duration,
) -> HookOutput {
    let launch = Launch {
        command: start.program,
        args: start.args,
        shell_line: start.shell_line,
        env: start.env,
        cwd: Some(start.folder),
        inherited_env: start.inherited_env,
        // Hooks are trusted: the user, an administrator or an approval vouches for them.
        confinement: &Confinement::None,
        temp_folder: None,
        keeper: start.keeper,
    };
    let log = ErrorLog::default();
    let (mut process, stdin, stdout) = match Process::start(&launch, &log) {
        Ok(started) => started,
        Err(failure) => return HookOutput::from_failure(failure.message),
    };
    let mut output = Vec::new();
    let whole = async {
        // Concurrently: a hook that writes before it has read everything must not deadlock.
        let ((), (), status) = tokio::join!(
            write_input(stdin, input),
            read_output(stdout, &mut output),
            process.wait_with_stderr()
        );
        status
    };
    let end = match timeout(limit, whole).await {
        Err(_) => HookExit::Broke(format!("did not end within {} s", limit.as_secs_f64())),
        Ok(_) if output.len() > MAX_OUTPUT_BYTES => HookExit::OutputTooLong,
        Ok(Some(status)) => match status.code() {
            // The keeper reports a signal the way shells do.
            Some(code @ 129..=192) if cfg!(unix) => {
                HookExit::Broke(format!("was killed by signal {}", code - 128))
            }
            Some(code) => HookExit::Exited(code),
            None => HookExit::Broke("was killed".to_owned()),
        },
        Ok(None) => HookExit::Broke("ended in an unknown way".to_owned()),
    };
    // Ends all processes that it started, also after a timeout.
    drop(process);
    HookOutput { end, output, errors: log.last_lines(MAX_ERROR_LINES) }
}

async fn write_input(mut stdin: ChildStdin, input: &str) {
    // A hook that does not read its input may still answer.
    _ = stdin.write_all(input.as_bytes()).await;
    _ = stdin.shutdown().await;
}

async fn read_output(stdout: ChildStdout, output: &mut Vec<u8>) {
    // One byte over the limit distinguishes a complete answer from a truncated one; then the pipe
    // is closed. After a read error the hook is judged by the part that arrived.
    _ = stdout.take(MAX_OUTPUT_BYTES as u64 + 1).read_to_end(output).await;
}
