//! A child process with its descendants: a process group, or a job object on Windows.

use std::io;
use std::process::ExitStatus;

use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};

#[cfg(not(windows))]
type Inner = tokio::process::Child;
#[cfg(windows)]
type Inner = Box<dyn process_wrap::tokio::ChildWrapper>;

/// A process and what it started.
#[derive(Debug)]
pub(super) struct Family {
    head: Inner,
}

/// The three pipes of a process.
pub(super) type Pipes = (Option<ChildStdin>, Option<ChildStdout>, Option<ChildStderr>);

impl Family {
    /// Starts a process as the head of a family of its own.
    #[cfg(not(windows))]
    pub(super) fn start(mut command: Command) -> io::Result<(Self, Pipes)> {
        #[cfg(unix)]
        command.process_group(0);
        let mut head = command.spawn()?;
        let pipes = (head.stdin.take(), head.stdout.take(), head.stderr.take());
        Ok((Self { head }, pipes))
    }

    /// Starts a process in a job that ends with our last handle on it, however we end.
    #[cfg(windows)]
    pub(super) fn start(command: Command) -> io::Result<(Self, Pipes)> {
        use process_wrap::tokio::{CommandWrap, JobObject, KillOnDrop};
        let mut command = CommandWrap::from(command);
        command.wrap(KillOnDrop).wrap(JobObject);
        let mut head = command.spawn()?;
        let pipes = (head.stdin().take(), head.stdout().take(), head.stderr().take());
        Ok((Self { head }, pipes))
    }

    /// Waits for the head to end.
    pub(super) async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.head.wait().await
    }

    /// Asks the family to end, where the system knows such a request.
    #[cfg(unix)]
    pub(super) fn ask_to_end(&mut self) {
        use rustix::process::{Pid, Signal, kill_process_group};
        // The head has not been waited for, so its number is still its own.
        if let Some(pid) = self.head.id().and_then(|id| Pid::from_raw(id.cast_signed())) {
            kill_process_group(pid, Signal::TERM).ok();
        }
    }

    /// Ends the family: there is no polite way here.
    #[cfg(not(unix))]
    pub(super) fn ask_to_end(&mut self) {
        self.head.start_kill().ok();
    }

    /// Ends the family for certain.
    pub(super) fn kill(&mut self) {
        #[cfg(unix)]
        {
            use rustix::process::{Pid, Signal, kill_process_group};
            if let Some(pid) = self.head.id().and_then(|id| Pid::from_raw(id.cast_signed())) {
                kill_process_group(pid, Signal::KILL).ok();
            }
        }
        self.head.start_kill().ok();
    }
}
