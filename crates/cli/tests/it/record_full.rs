//! Tests of a full disk: no recorded text is lost or overwritten, and calls resume once there is
//! space.

use std::path::PathBuf;
use std::process::Command;

use serde_json::json;

use crate::running::{Ran, RunningProcess, TEST_TIMEOUT};
use crate::serve_client::{ServingGateway, tool_call, until};
use crate::switchboard::{Switchboard, fixture};

/// Number of calls that a full disk refuses before it gets more space.
const REFUSALS: usize = 12;
/// Length of the `{"key":""}` that surrounds a text.
const AROUND: usize = 10;

/// Argument lengths around the thresholds between storage forms: in the row, in a shared file,
/// beyond the preallocated zeros.
const LENGTHS: [usize; 11] =
    [60, 4_095, 4_096, 4_097, 9_000, 40_000, 70_000, 131_071, 131_072, 131_073, 200_000];

/// A gateway whose record is on a small disk in a separate mount namespace.
struct SmallDisk {
    switchboard: Switchboard,
    serving: ServingGateway,
    record: PathBuf,
}

impl SmallDisk {
    fn new(size: &str) -> Self {
        let switchboard = Switchboard::new();
        let journal = switchboard.text_path("journal");
        switchboard.configure(&json!({"one": fixture(&["echo", "--journal", &journal])}));
        let record = switchboard.folder().join("own/state/record");
        std::fs::create_dir_all(&record).unwrap();
        let script = r#"mount -t tmpfs -o size="$1",mode=700 tmpfs "$2" && shift 2 && exec "$@""#;
        let mut command = Command::new("unshare");
        command.args(["--map-root-user", "--mount", "sh", "-c", script, "sh", size]).arg(&record);
        command.arg(env!("CARGO_BIN_EXE_switchboard"));
        command.args(["serve", "--json", "--listen", "127.0.0.1:0"]);
        switchboard.surround(&mut command);
        let serving = ServingGateway::from_running(RunningProcess::start(&mut command));
        serving.wait_for_tool(None, "one__write");
        Self { switchboard, serving, record }
    }

    /// Runs a program in the namespace in which the disk is mounted.
    fn run(&self, program: &str, words: &[&str]) -> Ran {
        let mut command = Command::new("nsenter");
        let pid = self.serving.running.pid().to_string();
        command.args(["--user", "--mount", "--preserve-credentials", "--target", &pid, program]);
        command.args(words);
        self.switchboard.surround(&mut command);
        let mut running = RunningProcess::start(&mut command);
        running.close_input();
        running.finish_within(TEST_TIMEOUT)
    }

    fn grow(&self, size: &str) {
        let size = format!("remount,size={size}");
        self.run("mount", &["-o", &size, self.record.to_str().unwrap()]).expect(0);
    }

    /// Calls the tool with a text of this length; returns false if the gateway refuses the call.
    fn write(&self, number: usize, length: usize) -> bool {
        let arguments = json!({"key": text(number, length)});
        let reply = self.serving.send(&tool_call(None, "one__write", &arguments)).json();
        reply["result"]["isError"] == false || reply["result"]["isError"].is_null()
    }

    fn switchboard(&self, words: &[&str]) -> Ran {
        self.run(env!("CARGO_BIN_EXE_switchboard"), words)
    }
}

/// Returns a text that differs from all others in every part.
fn text(number: usize, length: usize) -> String {
    format!("{number:06}-").chars().cycle().take(length - AROUND).collect()
}

/// Fills a disk with texts of these lengths, adds space, and compares the record with the texts
/// that were sent.
fn check(lengths: &[usize]) {
    let disk = SmallDisk::new("8m");
    let mut ran = Vec::new();
    let mut refused = 0;
    let mut number = 0;
    while refused < REFUSALS {
        if disk.write(number, lengths[number % lengths.len()]) {
            ran.push(number);
        } else {
            refused += 1;
        }
        number += 1;
        assert!(number < 3_000, "{lengths:?}: the disk is never full");
    }
    disk.grow("64m");
    until(|| {
        number += 1;
        let accepted = disk.write(number, 9_000);
        ran.extend(accepted.then_some(number));
        accepted
    });
    for length in LENGTHS {
        number += 1;
        assert!(disk.write(number, length), "{lengths:?}: there is space again");
        ran.push(number);
    }

    let listed = disk.switchboard(&["calls", "--full", "--limit", "10000", "--json"]).expect(0);
    let mut recorded = Vec::new();
    for call in listed.json().as_array().unwrap() {
        let key = call["arguments"]["key"].as_str().unwrap_or_default();
        let number: usize = key.get(..6).and_then(|start| start.parse().ok()).unwrap_or(usize::MAX);
        assert_eq!(key, text(number, key.len() + AROUND), "{lengths:?}: call {}", call["id"]);
        if call["outcome"] == "ok" {
            recorded.push(number);
        }
    }
    let lost: Vec<_> = ran.iter().filter(|number| !recorded.contains(number)).collect();
    let invented: Vec<_> = recorded.iter().filter(|number| !ran.contains(number)).collect();
    assert!(lost.is_empty() && invented.is_empty(), "{lengths:?}: {lost:?} {invented:?}");
    disk.switchboard(&["calls", "verify"]).expect(0);
    disk.serving.signal("TERM");
    disk.serving.finish().expect(0);
}

#[test]
fn f66_a_full_disk_loses_and_overwrites_no_recorded_text() {
    for length in [4_097, 9_000, 40_000, 131_073, 200_000] {
        check(&[length]);
    }
    check(&LENGTHS);
}
