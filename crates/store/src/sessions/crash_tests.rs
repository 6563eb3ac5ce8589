//! Tests of processes that are killed during a conversation: reported steps are not lost.
//!
//! The killed process is this test binary, controlled by environment variables.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::path::Path;

use switchboard_core::Durability;

use crate::crash_tests::{FILE, WORK, parse_line, start, tell};
use crate::entry::OpenReport;
use crate::sessions::error::SessionError;
use crate::sessions::id::SessionId;
use crate::sessions::store::SessionStore;
use crate::sessions::store::tests::{about, body};

const KILLED: &str = concat!(module_path!(), "::the_process_to_be_killed");

#[test]
#[ignore = "started and killed by the other tests here"]
fn the_process_to_be_killed() {
    let (Ok(path), Ok(work)) = (std::env::var(FILE), std::env::var(WORK)) else { return };
    let (durability, id) = work.split_once(' ').unwrap();
    let durability = if durability == "power" { Durability::Power } else { Durability::Process };
    let id = SessionId::parse(id).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let sessions = SessionStore::open(Path::new(&path), durability).unwrap();
        let mut next = sessions.steps(&id).await.unwrap().len() as u64 + 1;
        // Bounded, in case the parent has died.
        for _ in 0..100_000 {
            let words = body(&format!("{next} of {}", std::process::id()));
            match sessions.append(&id, next, "said", words).await {
                Ok(()) => tell(&format!("{next}")),
                Err(SessionError::Conflict { .. }) => {
                    next = sessions.steps(&id).await.unwrap().len() as u64;
                }
                Err(error) => panic!("{error}"),
            }
            next += 1;
        }
    });
}

/// Lets a process continue the conversation until it has reported enough steps, then kills it.
/// Returns its process id and the reported steps.
fn killed_after(path: &Path, work: &str, enough: usize) -> (u32, Vec<u64>) {
    let (mut child, output) = start(KILLED, path, work);
    let mut told = Vec::new();
    for line in output.lines().filter_map(parse_line) {
        told.push(line.parse().unwrap());
        if told.len() == enough {
            child.kill().unwrap();
        }
    }
    child.wait().unwrap();
    (child.id(), told)
}

#[tokio::test]
async fn every_step_a_killed_process_told_of_is_there() {
    for (durability, rounds) in [("process", 8), ("power", 3)] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sessions.db");
        let sessions = SessionStore::open(&path, Durability::Process).unwrap();
        let id = sessions.create(about(None)).await.unwrap();
        drop(sessions);
        let mut expected = Vec::new();
        for round in 0..rounds {
            let work = format!("{durability} {id}");
            let (process, told) = killed_after(&path, &work, 1 + round * 17);
            let first = expected.len() as u64 + 1;
            assert!(told.iter().copied().eq(first..first + told.len() as u64), "{told:?}");
            expected.extend(told.iter().map(|number| body(&format!("{number} of {process}"))));

            let sessions = SessionStore::open(&path, Durability::Process).unwrap();
            assert_eq!(sessions.open_report(), Some(&OpenReport::default()));
            let steps = sessions.steps(&id).await.unwrap();
            let kept: Vec<_> = steps.into_iter().map(|step| step.body).collect();
            // The last step may have been committed before the process could report it.
            let untold = body(&format!("{} of {process}", expected.len() + 1));
            expected.extend((kept.len() > expected.len()).then_some(untold));
            assert_eq!(kept, expected, "round {round}");
        }
    }
}

#[tokio::test]
async fn two_killed_processes_never_told_of_the_same_step() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sessions.db");
    let sessions = SessionStore::open(&path, Durability::Process).unwrap();
    let id = sessions.create(about(None)).await.unwrap();
    let work = format!("process {id}");
    for round in 0..3_usize {
        let threads = [20 + round * 10, 60].map(|enough| {
            let path = path.clone();
            let work = work.clone();
            std::thread::spawn(move || killed_after(&path, &work, enough))
        });
        let mut told = BTreeMap::new();
        for thread in threads {
            let (process, numbers) = thread.join().unwrap();
            for number in numbers {
                let other = told.insert(number, process);
                assert_eq!(other, None, "round {round}: step {number} was told of twice");
            }
        }
        let steps = sessions.steps(&id).await.unwrap();
        for (number, process) in told {
            let step = &steps[usize::try_from(number).unwrap() - 1];
            assert_eq!(step.body, body(&format!("{number} of {process}")), "round {round}");
        }
    }
    assert!(sessions.steps(&id).await.unwrap().len() >= 3 * 80);
}
