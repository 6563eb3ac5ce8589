//! Tests of processes that are killed during calls, and of their recovery by the next process.
//!
//! The killed process is this test binary, controlled by environment variables.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use bytes::Bytes;
use switchboard_core::{Durability, Outcome, OutcomeKind};

use crate::call_id::CallId;
use crate::entry::OpenReport;
use crate::filter::Filter;
use crate::ledger::Ledger;
use crate::ledger::tests::{call_to, first_attempt};
use crate::reader::LedgerReader;

pub(crate) const FILE: &str = "LEDGER_CRASH_FILE";
pub(crate) const WORK: &str = "LEDGER_CRASH_WORK";
const KILLED: &str = concat!(module_path!(), "::the_process_to_be_killed");

/// Starts this test binary as the process to be killed.
pub(crate) fn start(
    test: &str,
    path: &Path,
    work: &str,
) -> (Child, BufReader<std::process::ChildStdout>) {
    let name = test.split_once("::").unwrap().1;
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--ignored", "--nocapture"])
        .env(FILE, path)
        .env(WORK, work)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    (child, output)
}

/// Prints a line for the parent and flushes it, whatever the test harness does with the output.
pub(crate) fn tell(line: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "\n>{line}.").unwrap();
    out.flush().unwrap();
}

pub(crate) fn parse_line(line: std::io::Result<String>) -> Option<String> {
    // A line without its full stop was truncated by the kill.
    line.ok()?.strip_prefix('>')?.strip_suffix('.').map(str::to_owned)
}

#[test]
#[ignore = "started and killed by the other tests here"]
fn the_process_to_be_killed() {
    let (Ok(path), Ok(work)) = (std::env::var(FILE), std::env::var(WORK)) else { return };
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let ledger = Ledger::open(Path::new(&path), Durability::Process).unwrap();
        if work == "load" { under_load(&ledger).await } else { one_call(&ledger, &work).await }
    });
}

async fn one_call(ledger: &Ledger, stop_at: &str) {
    let open = ledger.open_call(call_to("files", stop_at)).await.unwrap();
    let id = open.id();
    // The row of a pending call is written although no task waits for the commit.
    while ledger.show(id).await.unwrap().is_none() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    wait_if(stop_at == "opened", id);
    open.record_intent(first_attempt()).await.unwrap();
    wait_if(stop_at == "intended", id);
    let record = open.close(Outcome::ok(Bytes::from_static(b"{}"))).await;
    assert!(record.recorded);
    wait_if(stop_at == "closed", id);
}

fn wait_if(here: bool, id: CallId) {
    if here {
        tell(&format!("at {id}"));
        let _killed = std::io::stdin().lock().read_line(&mut String::new());
    }
}

async fn under_load(ledger: &Ledger) {
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..16 {
        let ledger = ledger.clone();
        tasks.spawn(async move {
            // Bounded, in case the parent has died.
            for _ in 0..100_000 {
                let open = ledger.open_call(call_to("files", "load")).await.unwrap();
                let id = open.id();
                open.record_intent(first_attempt()).await.unwrap();
                tell(&format!("sent {id}"));
                assert!(open.close(Outcome::ok(Bytes::from_static(b"{}"))).await.recorded);
                tell(&format!("closed {id}"));
            }
        });
    }
    tasks.join_all().await;
}

#[tokio::test]
async fn a_call_of_a_killed_process_ends_by_how_far_it_came() {
    for (stop_at, outcome, reason, opened) in [
        (
            "opened",
            OutcomeKind::NotSent,
            Some("host_crash"),
            OpenReport { recovered_not_sent: 1, ..OpenReport::default() },
        ),
        (
            "intended",
            OutcomeKind::Unknown,
            Some("host_crash"),
            OpenReport { recovered_unknown: 1, ..OpenReport::default() },
        ),
        ("closed", OutcomeKind::Ok, None, OpenReport::default()),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("calls.db");
        let (mut child, output) = start(KILLED, &path, stop_at);
        let line = output.lines().find_map(parse_line).unwrap();
        let id: CallId = line.strip_prefix("at ").unwrap().parse().unwrap();

        // While the process lives, no other process recovers its call.
        let beside = Ledger::open(&path, Durability::Process).unwrap();
        assert_eq!(beside.open_report(), Some(&OpenReport::default()), "{stop_at}");
        beside.stop().await;
        child.kill().unwrap();
        child.wait().unwrap();

        let ledger = Ledger::open(&path, Durability::Process).unwrap();
        assert_eq!(ledger.open_report(), Some(&opened), "{stop_at}");
        let summary = ledger.show(id).await.unwrap().unwrap().summary;
        assert_eq!(
            (summary.outcome, summary.reason.as_deref()),
            (Some(outcome), reason),
            "{stop_at}"
        );
        ledger.stop().await;
        let locks = std::fs::read_dir(folder.path().join("owners")).unwrap();
        let names: Vec<_> = locks.map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["gate"], "{stop_at}");
    }
}

/// Runs a process until it has acknowledged enough calls, kills it, and returns what it
/// acknowledged.
fn killed_after(path: &Path, enough: usize) -> BTreeMap<CallId, Promise> {
    let mut promised = BTreeMap::new();
    let (mut child, output) = start(KILLED, path, "load");
    let mut killed = false;
    for line in output.lines().filter_map(parse_line) {
        let (word, id) = line.split_once(' ').unwrap();
        let id = id.parse().unwrap();
        promised.insert(id, if word == "sent" { Promise::Sent } else { Promise::Closed });
        if promised.len() >= enough && !killed {
            child.kill().unwrap();
            killed = true;
        }
    }
    child.wait().unwrap();
    promised
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Promise {
    Sent,
    Closed,
}

#[tokio::test]
async fn two_processes_killed_under_load_leave_every_intent_with_one_outcome() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.db");
    for round in 0..5_usize {
        let enough = [50 + round * 300, 200 + round * 100];
        let processes = enough.map(|enough| {
            let path = path.clone();
            std::thread::spawn(move || killed_after(&path, enough))
        });
        let promised: Vec<_> =
            processes.into_iter().flat_map(|process| process.join().unwrap()).collect();
        let different: BTreeSet<_> = promised.iter().map(|(id, _)| id).collect();
        assert_eq!(different.len(), promised.len(), "round {round}: a number was used twice");

        let ledger = Ledger::open(&path, Durability::Process).unwrap();
        let filter = Filter { limit: 1_000_000, ..Filter::default() };
        let calls = ledger.list(filter).await.unwrap();
        assert!(calls.iter().all(|call| call.outcome.is_some()), "round {round}");
        let ends: BTreeMap<_, _> = calls.iter().map(|call| (call.id, call.outcome)).collect();
        for (id, promise) in promised {
            let outcome = ends.get(&id).copied().flatten();
            let possible: &[_] = match promise {
                Promise::Closed => &[Some(OutcomeKind::Ok)],
                Promise::Sent => &[Some(OutcomeKind::Ok), Some(OutcomeKind::Unknown)],
            };
            assert!(possible.contains(&outcome), "round {round}: {id} {promise:?} is {outcome:?}");
        }
        ledger.stop().await;
    }
    assert!(LedgerReader::at(&path).count().await.unwrap() > 2_000);
}
