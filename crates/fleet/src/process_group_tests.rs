//! F20: a reused pid of an exited process gets no signal.
#![cfg(unix)]

use std::process::Stdio;

use super::*;

fn start(program: &str, words: &[&str]) -> ProcessGroup {
    let mut command = Command::new(program);
    command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    ProcessGroup::start(command).unwrap().0
}

#[tokio::test]
async fn f20_a_family_has_a_number_for_signals_only_until_its_end_was_seen() {
    let mut ended = start("true", &[]);
    let number = ended.group_id();
    assert!(number.is_some());
    // It has exited but has not been reaped, so the pid is still its own.
    let pid = number.unwrap();
    while rustix::process::waitid(rustix::process::WaitId::Pid(pid), without_reaping()).is_err() {}
    assert_eq!(ended.group_id(), number);
    assert!(ended.wait().await.unwrap().success());
    assert_eq!(ended.group_id(), None);
}

fn without_reaping() -> rustix::process::WaitIdOptions {
    rustix::process::WaitIdOptions::EXITED | rustix::process::WaitIdOptions::NOWAIT
}

/// Needs a pid namespace, in which pids can be chosen and thus reused.
#[cfg(target_os = "linux")]
#[test]
fn f20_a_number_that_another_process_has_now_gets_no_signal() {
    let name = concat!(module_path!(), "::in_a_namespace");
    let name = name.split_once("::").unwrap().1;
    let inside = |words: &[&str]| {
        let mut unshare = std::process::Command::new("unshare");
        unshare.args(["--user", "--map-root-user", "--pid", "--fork", "--mount-proc"]).args(words);
        unshare.stdin(Stdio::null()).output()
    };
    // Some systems allow namespaces only for root; the test above has to suffice there.
    if !inside(&["true"]).is_ok_and(|done| done.status.success()) {
        return;
    }
    let us = std::env::current_exe().unwrap();
    let words = [us.to_str().unwrap(), "--exact", name, "--ignored", "--nocapture"];
    let done = inside(&words).unwrap();
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(done.status.success(), "{said}{}", String::from_utf8_lossy(&done.stderr));
    assert!(said.contains("the other one lives"), "{said}");
}

#[cfg(target_os = "linux")]
#[tokio::test]
#[ignore = "started by the test above, in a namespace"]
async fn in_a_namespace() {
    let mut ended = start("true", &[]);
    let number = ended.group_id().unwrap().as_raw_nonzero().get().cast_unsigned();
    ended.wait().await.unwrap();
    let mut other = another_with(number);
    ended.terminate();
    ended.kill();
    drop(ended);
    // Signals arrive in order: one sent before would have arrived by now.
    let mut bystander = start("sleep", &["1000"]);
    bystander.kill();
    bystander.wait().await.unwrap();
    assert!(other.try_wait().unwrap().is_none(), "it got the signal of another");
    println!("the other one lives");
    other.kill().unwrap();
    other.wait().unwrap();
}

/// Starts a group leader with this pid.
#[cfg(target_os = "linux")]
fn another_with(number: u32) -> std::process::Child {
    use std::os::unix::process::CommandExt as _;
    for _ in 0..1_000 {
        std::fs::write("/proc/sys/kernel/ns_last_pid", (number - 1).to_string()).unwrap();
        let mut command = std::process::Command::new("sleep");
        let mut child = command.arg("1000").process_group(0).spawn().unwrap();
        if child.id() == number {
            return child;
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    panic!("the number {number} is not given out again");
}
