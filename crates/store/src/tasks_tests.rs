//! Tests of calls that continue as tasks: their rows, who closes them, and recovery after a crash.

use std::path::Path;
use std::time::Duration;

use bytes::Bytes;
use switchboard_core::{
    Durability, Outcome, OutcomeKind, TaskHandle, TaskPlace, TaskState, TaskStatus,
};
use switchboard_wire::Era;

use super::{StoredTask, TaskNote, WhichTasks};
use crate::call_id::CallId;
use crate::filter::Filter;
use crate::ledger::Ledger;
use crate::ledger::tests::{call_to, first_attempt};
use crate::open_call::OpenCall;

fn note(status: TaskStatus, message: Option<&str>) -> TaskNote {
    let poll = Some(Duration::from_millis(1_500));
    TaskNote {
        place: TaskPlace { server: "slow".to_owned(), instance: 2 },
        target: "research".to_owned(),
        task: TaskHandle {
            id: "t-1".to_owned(),
            era: Era::Modern,
            poll,
            ttl: Some(Duration::from_secs(60)),
        },
        state: TaskState { status, message: message.map(str::to_owned), poll },
    }
}

fn open(path: &Path) -> Ledger {
    Ledger::open(path, Durability::Process).unwrap()
}

async fn task_call(ledger: &Ledger) -> OpenCall {
    let open = ledger.open_call(call_to("slow", "research")).await.unwrap();
    open.record_intent(first_attempt()).await.unwrap();
    open.record_task(note(TaskStatus::Working, None)).await.unwrap();
    open
}

fn running() -> Outcome {
    Outcome::unknown(Outcome::TASK_RUNNING, "it goes on")
}

#[tokio::test]
async fn a_task_is_kept_under_its_call_with_what_was_last_said_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = open(&folder.path().join("calls.db"));
    let call = task_call(&ledger).await;
    call.record_task(note(TaskStatus::InputRequired, Some("which one?"))).await.unwrap();
    let kept = ledger.task_for_call(call.id()).await.unwrap().unwrap();
    let expected = StoredTask {
        call: call.id(),
        place: TaskPlace { server: "slow".to_owned(), instance: 2 },
        target: "research".to_owned(),
        task: note(TaskStatus::Working, None).task,
        created_at: kept.created_at,
        status: "input_required".to_owned(),
        message: Some("which one?".to_owned()),
        seen_at: kept.seen_at,
        outcome: None,
    };
    assert_eq!(kept, expected);
    assert!(!kept.has_expired(kept.created_at + Duration::from_secs(60)));
    assert!(kept.has_expired(kept.created_at + Duration::from_secs(61)));
    let listed = ledger.list(Filter::default()).await.unwrap();
    assert_eq!(listed[0].task.as_deref(), Some("t-1"));
    let record = call.leave_open(running());
    assert_eq!((record.recorded, record.outcome), (true, running()));
}

#[tokio::test]
async fn a_call_that_goes_on_as_a_task_stays_open_when_its_caller_goes_away() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.db");
    let ledger = open(&path);
    let dropped = task_call(&ledger).await;
    let left = task_call(&ledger).await;
    let ids = [dropped.id(), left.id()];
    drop(dropped);
    assert!(left.leave_open(running()).recorded);
    ledger.stop().await;

    // The next process finds both tasks, and no call to recover.
    let ledger = open(&path);
    let opened = ledger.open_report().unwrap();
    assert_eq!((opened.recovered_unknown, opened.recovered_not_sent), (0, 0));
    for id in ids {
        assert_eq!(ledger.show(id).await.unwrap().unwrap().summary.outcome, None);
    }
    let tasks = ledger.tasks(WhichTasks::Running).await.unwrap();
    let mut calls: Vec<CallId> = tasks.iter().map(|task| task.call).collect();
    calls.sort_unstable();
    assert_eq!(calls, ids);
}

#[tokio::test]
async fn whoever_takes_a_task_up_closes_its_call_and_keeps_what_was_noted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.db");
    let ledger = open(&path);
    let call = ledger.open_call(call_to("slow", "research")).await.unwrap();
    call.note_definition("d1g357");
    call.record_intent(first_attempt()).await.unwrap();
    call.record_task(note(TaskStatus::Working, None)).await.unwrap();
    let id = call.id();
    assert!(call.leave_open(running()).recorded);
    ledger.stop().await;

    let ledger = open(&path);
    let full = ledger.show(id).await.unwrap().unwrap();
    assert_eq!(full.timeline.as_ref().map(|timeline| timeline.steps().len()), Some(1));
    let first = ledger.resume_call(&full);
    let second = ledger.resume_call(&full);
    first.record_task(note(TaskStatus::Working, Some("half"))).await.unwrap();
    let outcome = Outcome::ok(Bytes::from_static(b"{}"));
    let record = first.close(outcome.clone()).await;
    assert_eq!((record.id, record.recorded, &record.outcome), (Some(id), true, &outcome));
    let late = second.close(Outcome::unknown("task_lost", "gone")).await;
    assert!(!late.recorded, "the first outcome stands");
    let full = ledger.show(id).await.unwrap().unwrap();
    assert_eq!(full.summary.outcome, Some(OutcomeKind::Ok));
    assert_eq!(full.definition_digest.as_deref(), Some("d1g357"));
    assert_eq!(full.timeline.map(|timeline| timeline.steps().len()), Some(2));
    assert_eq!(ledger.tasks(WhichTasks::Running).await.unwrap(), []);
    let all = ledger.tasks(WhichTasks::All).await.unwrap();
    assert_eq!(all.iter().map(|task| task.outcome).collect::<Vec<_>>(), [Some(OutcomeKind::Ok)]);
}
