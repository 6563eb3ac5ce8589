//! A child process with its descendants: a process group, or a job object on Windows.

use std::io;
use std::process::ExitStatus;

use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};

#[cfg(not(windows))]
type InnerChild = tokio::process::Child;
#[cfg(windows)]
type InnerChild = Box<dyn process_wrap::tokio::ChildWrapper>;

#[cfg(windows)]
const CREATE_SUSPENDED: u32 = 0x0000_0004;
/// A hidden console of its own: Ctrl-C in ours does not reach the server, and no window opens.
#[cfg(windows)]
const CREATE_NO_WINDOW: u32 = 0x0800_0000;

#[derive(Debug)]
pub(crate) struct ProcessGroup {
    leader: InnerChild,
}

pub(crate) type ChildPipes = (Option<ChildStdin>, Option<ChildStdout>, Option<ChildStderr>);

impl ProcessGroup {
    /// Starts a process as the leader of a new process group.
    #[cfg(not(windows))]
    pub(crate) fn start(mut command: Command) -> io::Result<(Self, ChildPipes)> {
        #[cfg(unix)]
        command.process_group(0);
        let mut head = command.spawn()?;
        let pipes = (head.stdin.take(), head.stdout.take(), head.stderr.take());
        Ok((Self { leader: head }, pipes))
    }

    /// Starts a process in a job object, which ends with our last handle, even after a crash.
    #[cfg(windows)]
    pub(crate) fn start(command: Command) -> io::Result<(Self, ChildPipes)> {
        use process_wrap::tokio::{CommandWrap, JobObject, KillOnDrop};
        let mut command = CommandWrap::from(command);
        command.wrap(KillOnDrop).wrap(JobObject);
        let mut head = command.spawn_with(|command| {
            // The job object resumes the process after adding it.
            command.creation_flags(CREATE_SUSPENDED | CREATE_NO_WINDOW).spawn()
        })?;
        let pipes = (head.stdin().take(), head.stdout().take(), head.stderr().take());
        Ok((Self { leader: head }, pipes))
    }

    /// Returns the leader's process id until it has exited.
    pub(crate) fn id(&self) -> Option<u32> {
        self.leader.id()
    }

    pub(crate) async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.leader.wait().await
    }

    #[cfg(unix)]
    pub(crate) fn terminate(&mut self) {
        if let Some(group) = self.group_id() {
            // The group may have exited already; the caller waits for it with a limit.
            _ = rustix::process::kill_process_group(group, rustix::process::Signal::TERM);
        }
    }

    /// Returns the group id until the leader is reaped; afterwards the system may reuse it.
    #[cfg(unix)]
    fn group_id(&self) -> Option<rustix::process::Pid> {
        self.leader.id().and_then(|id| rustix::process::Pid::from_raw(id.cast_signed()))
    }

    /// Kills the job, since Windows has no counterpart of `SIGTERM`.
    #[cfg(not(unix))]
    pub(crate) fn terminate(&mut self) {
        // The job may have ended already; the caller waits for it with a limit.
        _ = self.leader.start_kill();
    }

    pub(crate) fn kill(&mut self) {
        #[cfg(unix)]
        if let Some(group) = self.group_id() {
            // The group may have exited already.
            _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        // The leader has usually been killed with its group.
        _ = self.leader.start_kill();
    }
}

#[cfg(test)]
#[path = "process_group_tests.rs"]
mod tests;
