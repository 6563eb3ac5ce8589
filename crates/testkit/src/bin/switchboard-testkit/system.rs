//! What the system around a server can do that differs from one to the next.

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

    /// From here on a polite request to end is heard and not followed.
    pub(crate) fn ignore_requests_to_end() {
        let mut signals = signal(SignalKind::terminate()).expect("signals can be caught");
        tokio::spawn(async move { while signals.recv().await.is_some() {} });
    }

    /// Pointing standard output elsewhere closes this end of the pipe.
    pub(crate) fn close_standard_output() -> io::Result<()> {
        let nowhere = std::fs::OpenOptions::new().write(true).open("/dev/null")?;
        Ok(rustix::stdio::dup2_stdout(&nowhere)?)
    }

    /// A process that does nothing for a long time.
    pub(crate) fn worker() -> Command {
        let mut command = Command::new("sleep");
        command.arg("300");
        command
    }

    /// The same in a session of its own.
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

    /// There are no polite requests to end.
    pub(crate) const fn ignore_requests_to_end() {}

    /// Without a way to close it the writer stops writing, which keeps the pipe open.
    pub(crate) fn close_standard_output() -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// A process that does nothing for a long time: this program, told to stay.
    pub(crate) fn worker() -> Command {
        let program = std::env::current_exe().expect("the path of this program is known");
        let mut command = Command::new(program);
        command.args(["flaky", "--fault", "ignore-term"]);
        command
    }

    /// The same: there are no sessions that a process could leave.
    pub(crate) fn leaving_worker() -> Command {
        worker()
    }
}
