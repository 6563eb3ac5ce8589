//! Platform-specific operations: signals, process groups, standard output and child processes.

pub(crate) use here::{
    close_standard_output, ignore_requests_to_end, leaving_worker, process_group, worker,
};

#[cfg(unix)]
mod here {
    use std::io;
    use std::process::Command;

    use tokio::signal::unix::{SignalKind, signal};

    pub(crate) fn process_group() -> Option<i32> {
        Some(rustix::process::getpgrp().as_raw_nonzero().get())
    }

    /// Catches and ignores SIGTERM from here on.
    pub(crate) fn ignore_requests_to_end() {
        let mut signals = signal(SignalKind::terminate()).expect("signals can be caught");
        tokio::spawn(async move { while signals.recv().await.is_some() {} });
    }

    /// Closes this end of the pipe by redirecting standard output to `/dev/null`.
    pub(crate) fn close_standard_output() -> io::Result<()> {
        let nowhere = std::fs::OpenOptions::new().write(true).open("/dev/null")?;
        Ok(rustix::stdio::dup2_stdout(&nowhere)?)
    }

    /// Returns the command of a process that sleeps for a long time.
    pub(crate) fn worker() -> Command {
        let mut command = Command::new("sleep");
        command.arg("300");
        command
    }

    /// Returns the same command, in its own session.
    pub(crate) fn leaving_worker() -> Command {
        let mut command = Command::new("setsid");
        command.args(["sleep", "300"]);
        command
    }
}

#[cfg(not(unix))]
mod here {
    use std::io;
    use std::process::Command;

    pub(crate) const fn process_group() -> Option<i32> {
        None
    }

    /// Does nothing: there is no SIGTERM on this system.
    pub(crate) const fn ignore_requests_to_end() {}

    /// Standard output cannot be closed here: the writer stops, and the pipe stays open.
    pub(crate) fn close_standard_output() -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Returns the command of a process that waits for long: this program with `ignore-term`.
    pub(crate) fn worker() -> Command {
        let program = std::env::current_exe().expect("the path of this program is known");
        let mut command = Command::new(program);
        command.args(["flaky", "--fault", "ignore-term"]);
        command
    }

    /// Returns the same command: there are no sessions to leave.
    pub(crate) fn leaving_worker() -> Command {
        worker()
    }
}
