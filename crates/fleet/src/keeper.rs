//! The keeper: a process between the host and a server that ends all descendants of the server when
//! the host is gone.
//!
//! It holds the write end of the pipe for the server's standard error. When that pipe has no
//! reader, the host has stopped or died, and the keeper ends the server's process group and, on
//! Linux, processes that left the group, since orphans are reparented to the keeper. It does not
//! touch the server's messages.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::io::Write as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// How long a group may take to exit after `SIGTERM` before it is killed.
const TERMINATE_GRACE: Duration = Duration::from_secs(2);
/// How long remaining processes of an exited server may take to exit.
const LEFTOVER_GRACE: Duration = Duration::from_millis(300);

/// Runs `command` until it or the host ends; returns the exit status for this process.
#[must_use]
pub fn keep(command: &[OsString]) -> u8 {
    let Some((program, args)) = command.split_first() else { return 2 };
    close_inherited();
    adopt_orphans();
    let started = Command::new(program).args(args).process_group(0).spawn();
    let mut child = match started {
        Ok(child) => child,
        Err(error) => {
            let program = program.display();
            // Standard error is a pipe to the host; if it is broken, there is no one to inform.
            _ = writeln!(io::stderr(), "cannot start `{program}`: {error}");
            return 126;
        }
    };
    close_pipes();
    let grace = match wait_for_end(&child) {
        KeeperEnd::Server => LEFTOVER_GRACE,
        KeeperEnd::Host => TERMINATE_GRACE,
    };
    end_group(&mut child, grace);
    end_orphans();
    exit_code(&mut child)
}

/// Closes all inherited descriptors except the standard ones, so that files left open by the host's
/// parent do not leak into a server.
pub(crate) fn close_inherited() {
    let Ok(folder) = std::fs::read_dir("/dev/fd") else { return };
    let open: Vec<i32> = folder
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|number| *number > 2)
        .collect();
    for number in open {
        // The descriptor that the folder was read through is listed and closed already.
        _ = nix::unistd::close(number);
    }
}

enum KeeperEnd {
    Server,
    Host,
}

/// Closes our copies of the server's pipes, so that the host notices when the server closes them.
fn close_pipes() {
    if let Ok(null) = File::options().read(true).write(true).open("/dev/null") {
        // If this fails, the host sees the closed pipes when the keeper exits.
        _ = rustix::stdio::dup2_stdin(&null);
        _ = rustix::stdio::dup2_stdout(&null);
    }
}

#[cfg(target_os = "linux")]
fn adopt_orphans() {
    // If this fails, processes that leave the server's group are not found, as on other systems.
    _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

#[cfg(not(target_os = "linux"))]
const fn adopt_orphans() {}

/// Waits until the server has exited, without reaping it, or the host is gone.
#[cfg(target_os = "linux")]
fn wait_for_end(child: &Child) -> KeeperEnd {
    use rustix::process::{PidfdFlags, pidfd_open};
    let Some(pid) = child_pid(child) else { return KeeperEnd::Server };
    // A pid file descriptor needs Linux 5.3, and some containers forbid it.
    let Ok(server) = pidfd_open(pid, PidfdFlags::empty()) else { return wait_by_polling(child) };
    let errors = rustix::stdio::stderr();
    loop {
        // Without requested events, `poll` still reports a pipe that has lost its reader.
        let mut watched =
            [PollFd::new(&errors, PollFlags::empty()), PollFd::new(&server, PollFlags::IN)];
        match poll(&mut watched, None) {
            Ok(_) => {
                let [errors, server] = watched;
                if !server.revents().is_empty() {
                    return KeeperEnd::Server;
                }
                if !errors.revents().is_empty() {
                    return KeeperEnd::Host;
                }
            }
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return wait_by_polling(child),
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn wait_for_end(child: &Child) -> KeeperEnd {
    wait_by_polling(child)
}

fn wait_by_polling(child: &Child) -> KeeperEnd {
    let errors = rustix::stdio::stderr();
    loop {
        let mut watched = [PollFd::new(&errors, PollFlags::empty())];
        let turn = Timespec { tv_sec: 0, tv_nsec: 200_000_000 };
        if poll(&mut watched, Some(&turn)).is_ok_and(|ready| ready > 0) {
            return KeeperEnd::Host;
        }
        if has_ended(child) {
            return KeeperEnd::Server;
        }
    }
}

/// Returns whether the child has exited. Does not reap it, so that its pid is not reused.
fn has_ended(child: &Child) -> bool {
    use rustix::process::{WaitId, WaitIdOptions, waitid};
    let Some(pid) = child_pid(child) else { return true };
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    !matches!(waitid(WaitId::Pid(pid), options), Ok(None))
}

/// Asks the server's group to exit, and kills it after `grace`.
fn end_group(child: &mut Child, grace: Duration) {
    let Some(group) = child_pid(child) else { return };
    // The whole group may have exited already.
    _ = kill_process_group(group, Signal::TERM);
    let deadline = Instant::now() + grace;
    while Instant::now() < deadline {
        if has_ended(child) && !has_other_members(group) {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    // After an orderly exit there is no process left to kill.
    _ = kill_process_group(group, Signal::KILL);
}

/// Kills processes that left the server's group and were reparented to the keeper.
fn end_orphans() {
    // Killing one may reparent its children to us, hence the loop. It is bounded, since a process
    // that forks faster than it is killed must not keep the keeper alive.
    for _ in 0..10 {
        let orphans = own_children();
        if orphans.is_empty() {
            return;
        }
        for orphan in orphans {
            // The orphan may have exited since it was listed; the next round lists the rest.
            _ = kill_process(orphan, Signal::KILL);
        }
        std::thread::sleep(Duration::from_millis(5));
        while let Ok(Some(_)) = rustix::process::wait(rustix::process::WaitOptions::NOHANG) {}
    }
}

fn exit_code(child: &mut Child) -> u8 {
    match child.wait() {
        Ok(status) => match (status.code(), status.signal()) {
            (Some(code), _) => u8::try_from(code).unwrap_or(1),
            (None, Some(signal)) => u8::try_from(128 + signal).unwrap_or(255),
            (None, None) => 1,
        },
        // Reaped together with the orphans after it was killed.
        Err(_) => 137,
    }
}

fn child_pid(child: &Child) -> Option<Pid> {
    Pid::from_raw(child.id().cast_signed())
}

fn has_other_members(group: Pid) -> bool {
    let own = group.as_raw_nonzero().get();
    processes().iter().any(|process| process.group == own && process.id != own && !process.ended)
}

fn own_children() -> Vec<Pid> {
    let us = rustix::process::getpid().as_raw_nonzero().get();
    let ours = processes().into_iter().filter(|process| process.parent == us && !process.ended);
    ours.filter_map(|process| Pid::from_raw(process.id)).collect()
}

struct ProcessStat {
    id: i32,
    parent: i32,
    group: i32,
    ended: bool,
}

/// Returns all processes listed in `/proc`; empty on systems without it.
fn processes() -> Vec<ProcessStat> {
    let Ok(folder) = std::fs::read_dir("/proc") else { return Vec::new() };
    folder
        .filter_map(|entry| {
            let id = entry.ok()?.file_name().to_str()?.parse().ok()?;
            let line = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
            // The name in parentheses may contain anything, so parse after the last one.
            let mut fields = line.rsplit_once(')')?.1.split_whitespace();
            let ended = matches!(fields.next()?, "Z" | "X");
            let parent = fields.next()?.parse().ok()?;
            let group = fields.next()?.parse().ok()?;
            Some(ProcessStat { id, parent, group, ended })
        })
        .collect()
}
