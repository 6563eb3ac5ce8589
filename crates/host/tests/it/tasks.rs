//! Calls that servers continue as tasks: both forms, their requests, their outcomes and their loss.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use switchboard_host::{
    Ask, Asker, CallOptions, Caller, Host, OutcomeKind, ProposedCall, Record, ReplyFuture, TaskMode,
};
use switchboard_store::{AskReply, WhichTasks};
use switchboard_wire::Json;
use tokio::sync::mpsc;

use crate::stage::{Play, SERVER, Stage, eventually, message, options, text, words};

const ERAS: [&str; 2] = ["legacy", "modern"];

fn stage(era: &str, more: &[&str]) -> Stage {
    Stage::new().fixture(SERVER, &[&["echo", "--tasks", "--era", era], more].concat(), 20)
}

async fn call(play: &Play, tool: &str, arguments: &Value, attention: &CallOptions) -> Record {
    let proposed = ProposedCall::tool(SERVER, tool, Json::from(arguments));
    play.host.call_with(&play.host.lease(), proposed, &Caller::person(), attention).await
}

fn detached() -> CallOptions {
    CallOptions { task_mode: TaskMode::Detach, ..CallOptions::default() }
}

/// An asker that always gives the same answer, and counts the questions.
#[derive(Default)]
struct Counting(AtomicUsize);

impl Asker for Counting {
    fn ask<'a>(&'a self, _ask: &'a Ask) -> ReplyFuture<'a> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Box::pin(async { AskReply::Accept(json!({"answer": "green"}).as_object().cloned()) })
    }
}

#[tokio::test]
async fn a_call_that_becomes_a_task_is_waited_for_like_any_other() {
    for era in ERAS {
        let play = stage(era, &[]).ready().await;
        let record = play.call("research", json!({"ms": 400})).await;
        assert_eq!(words(&record), (OutcomeKind::Ok, None), "{era}: {record:?}");
        assert_eq!(text(&record), "found it", "{era}");
        let tasks = play.host.ledger().tasks(WhichTasks::All).await.unwrap();
        let [task] = tasks.as_slice() else { panic!("{era}: {tasks:?}") };
        assert_eq!((Some(task.call), task.outcome), (record.id, Some(OutcomeKind::Ok)), "{era}");
        play.stop().await;
    }
}

#[tokio::test]
async fn a_task_that_fails_says_how() {
    for era in ERAS {
        let play = stage(era, &[]).ready().await;
        let reported = play.call("research", json!({"ms": 1, "fail": "tool"})).await;
        assert_eq!(words(&reported), (OutcomeKind::ToolError, None), "{era}: {reported:?}");
        assert_eq!(text(&reported), "nothing was found", "{era}");
        let failed = play.call("research", json!({"ms": 1, "fail": "error"})).await;
        let expected = (OutcomeKind::Failed, Some("task_failed"));
        assert_eq!(words(&failed), expected, "{era}: {failed:?}");
        assert!(message(&failed).contains("the sources are gone"), "{era}: {failed:?}");
        play.stop().await;
    }
}

#[tokio::test]
async fn a_tool_becomes_a_task_only_where_it_and_the_caller_want_that() {
    let wished = CallOptions { task_mode: TaskMode::Task, ..CallOptions::default() };
    for (tool, attention, expected) in [
        ("ponder", &CallOptions::default(), 0),
        ("ponder", &wished, 1),
        ("hurry", &wished, 0),
        ("hurry", &CallOptions::default(), 0),
    ] {
        let play = stage("legacy", &[]).ready().await;
        let record = call(&play, tool, &json!({"ms": 1}), attention).await;
        assert_eq!(words(&record), (OutcomeKind::Ok, None), "{tool}: {record:?}");
        let tasks = play.host.ledger().tasks(WhichTasks::All).await.unwrap();
        assert_eq!(tasks.len(), expected, "{tool} {:?}", attention.task_mode);
        play.stop().await;
    }
}

#[tokio::test]
async fn the_configuration_makes_a_task_of_a_tool_that_leaves_the_choice() {
    let stage = Stage::new();
    let mut entry = crate::stage::fixture(&stage.home, &["echo", "--tasks", "--era", "legacy"], 20);
    entry["tools"] = json!({"ponder": {"task": true}});
    let play = stage.with(SERVER, entry).ready().await;
    let record = play.call("ponder", json!({"ms": 1})).await;
    assert_eq!(words(&record), (OutcomeKind::Ok, None), "{record:?}");
    assert_eq!(play.received("tasks/result"), 1);
    play.stop().await;
}

#[tokio::test]
async fn what_a_task_asks_is_answered_once() {
    for era in ERAS {
        let asker: Arc<Counting> = Arc::default();
        let play = stage(era, &[]).asked_by(Arc::clone(&asker) as Arc<dyn Asker>).await;
        let record = play.call("research", json!({"ms": 50, "ask": true})).await;
        assert_eq!(words(&record), (OutcomeKind::Ok, None), "{era}: {record:?}");
        assert_eq!(text(&record), "found it: green", "{era}");
        assert_eq!(asker.0.load(Ordering::SeqCst), 1, "{era}");
        play.stop().await;
    }
}

#[tokio::test]
async fn a_server_that_tells_of_the_end_is_not_waited_for_longer() {
    for era in ERAS {
        let play = stage(era, &["--task-poll-ms", "25000"]).ready().await;
        let calling = play.call("research", json!({"ms": 500}));
        let record = tokio::time::timeout(Duration::from_secs(15), calling).await;
        let record = record.unwrap_or_else(|_| panic!("{era}: waited for the next look"));
        assert_eq!(text(&record), "found it", "{era}");
        play.stop().await;
    }
}

#[tokio::test]
async fn whoever_watches_hears_what_the_server_says_of_a_task() {
    for era in ERAS {
        let play = stage(era, &[]).ready().await;
        let (progress, mut reports) = mpsc::channel(64);
        let attention = CallOptions { progress: Some(progress), ..CallOptions::default() };
        call(&play, "research", &json!({"ms": 600}), &attention).await;
        drop(attention);
        let mut said = Vec::new();
        while let Some(report) = reports.recv().await {
            let report: Value = report.read().unwrap();
            said.push(report["message"].as_str().unwrap_or_default().to_owned());
        }
        assert_eq!(said, ["it is working", "it is completed"], "{era}");
        play.stop().await;
    }
}

#[tokio::test]
async fn a_task_is_given_up_with_its_call() {
    for era in ERAS {
        let play = stage(era, &[]).ready().await;
        let attention = CallOptions::default();
        let arguments = json!({"ms": 60_000});
        let calling = call(&play, "research", &arguments, &attention);
        let give_up = async {
            eventually("the task is known", Duration::from_secs(10), async || {
                !play.host.ledger().tasks(WhichTasks::Running).await.unwrap().is_empty()
            })
            .await;
            attention.cancel.cancel();
        };
        let (record, ()) = tokio::join!(calling, give_up);
        assert_eq!(words(&record), (OutcomeKind::Cancelled, Some("by_caller")), "{era}");
        let task = play.host.ledger().task_for_call(record.id.unwrap()).await.unwrap().unwrap();
        let line = format!("cancelled task {}", task.task.id);
        assert!(play.home.journal_lines().contains(&line), "{era}: {line}");
        play.stop().await;
    }
}

#[tokio::test]
async fn a_call_that_nobody_waits_for_stays_open_and_is_finished_by_another_host() {
    for era in ERAS {
        // Over HTTP the server outlives the host.
        let words_of = ["echo", "--tasks", "--era", era];
        let (stage, _fixture) = Stage::new().web(&words_of, 20);
        let config = stage.write_config();
        let play = stage.ready().await;
        let left = call(&play, "research", &json!({"ms": 700}), &detached()).await;
        let expected = (OutcomeKind::Unknown, Some("task_running"));
        assert_eq!(words(&left), expected, "{era}: {left:?}");
        let id = left.id.unwrap();
        let hint = format!("`switchboard tasks wait {id}` waits for its end");
        assert_eq!(left.outcome.hint, Some(hint), "{era}");
        let home = play.stop().await;

        let later = options(home.path(), config, false, Duration::from_secs(30));
        let host = Host::start(later).unwrap();
        host.wait_settled(None).await;
        let open = host.ledger().show(id).await.unwrap().unwrap();
        assert_eq!(open.summary.outcome, None, "{era}");
        let record = host.tasks().finish(id, &CallOptions::default()).await.unwrap();
        assert_eq!((record.recorded, words(&record)), (true, (OutcomeKind::Ok, None)), "{era}");
        assert_eq!(text(&record), "found it", "{era}");
        // The call is finished only once; a second `finish` returns the same outcome.
        let again = host.tasks().finish(id, &CallOptions::default()).await.unwrap();
        assert_eq!(again.outcome, record.outcome, "{era}");
        host.stop().await;
    }
}

#[tokio::test]
async fn a_task_that_the_server_forgot_is_lost_and_the_call_says_so() {
    for era in ERAS {
        let play = stage(era, &[]).ready().await;
        let calling = play.call("research", json!({"ms": 60_000}));
        let restart = async {
            eventually("the task is known", Duration::from_secs(10), async || {
                !play.host.ledger().tasks(WhichTasks::Running).await.unwrap().is_empty()
            })
            .await;
            // A server that ends loses its tasks; its successor has none of them.
            play.peer().close("the test ends the connection");
        };
        let (record, ()) = tokio::join!(calling, restart);
        let expected = (OutcomeKind::Unknown, Some("task_lost"));
        assert_eq!(words(&record), expected, "{era}: {record:?}");
        assert_eq!(play.started().len(), 2, "{era}");
        play.stop().await;
    }
}

#[tokio::test]
async fn a_call_that_was_left_is_given_up_by_anybody() {
    for era in ERAS {
        let play = stage(era, &[]).ready().await;
        let left = call(&play, "research", &json!({"ms": 60_000}), &detached()).await;
        let id = left.id.unwrap();
        let state = play.host.tasks().state(id).await.unwrap();
        assert_eq!(state.message.as_deref(), Some("it is working"), "{era}");
        let record = play.host.tasks().cancel(id).await.unwrap();
        assert_eq!(words(&record), (OutcomeKind::Cancelled, Some("by_caller")), "{era}");
        play.full(&record).await;
        let listed = play.host.tasks().list(SERVER).await.unwrap();
        // Only the older form has a list.
        let known: Vec<&str> = listed.iter().map(|(_, state)| state.status.as_str()).collect();
        let expected: &[&str] = if era == "legacy" { &["cancelled"] } else { &[] };
        assert_eq!(known, expected, "{era}");
        play.stop().await;
    }
}

#[tokio::test]
async fn a_caller_that_stops_waiting_for_a_task_leaves_it_alone() {
    let play = stage("modern", &[]).ready().await;
    let left = call(&play, "research", &json!({"ms": 60_000}), &detached()).await;
    let id = left.id.unwrap();
    let attention = CallOptions::default();
    attention.cancel.cancel();
    let record = play.host.tasks().finish(id, &attention).await.unwrap();
    assert_eq!(words(&record), (OutcomeKind::Unknown, Some("task_running")), "{record:?}");
    let full = play.host.ledger().show(id).await.unwrap().unwrap();
    assert_eq!(full.summary.outcome, None);
    play.stop().await;
}
