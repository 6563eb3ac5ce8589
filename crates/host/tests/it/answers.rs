//! F28 to F37: answers with a foreign or unknown id, duplicate, late or missing answers.

use std::time::{Duration, Instant};

use serde_json::json;
use switchboard_host::{CallOptions, Caller, OutcomeKind, ProposedCall};
use switchboard_wire::{Json, Stats};
use tokio::task::JoinSet;

use crate::case::{ANSWERED, Case, TIMED_OUT, UNKNOWN};
use crate::stage::{Play, SERVER, Stage, eventually, message, text, words};

const BROKEN: Case<'_> = Case { reason: Some("protocol_error"), ..UNKNOWN };
const SECOND: Duration = Duration::from_secs(1);

/// Returns the connection's statistics after a call that met this fault.
async fn stats_after(fault: &str, timeout_seconds: u64, wanted: Stats) {
    let play = Stage::new().flaky(&[fault], timeout_seconds).ready().await;
    let peer = play.peer();
    play.write("struck").await;
    let what = format!("{fault} is counted as {wanted:?}");
    eventually(&what, SECOND, async || peer.stats() == wanted).await;
    assert!(!peer.is_closed(), "the connection stays");
    play.stop().await;
}

#[tokio::test]
async fn f28_an_answer_to_nobody_is_counted_and_dropped() {
    Case { fault: &["unknown-id"], ..ANSWERED }.over_stdio().await;
    stats_after("unknown-id", 5, Stats { unknown_answers: 1, ..Stats::default() }).await;
}

#[tokio::test]
async fn f29_an_answer_whose_id_is_of_another_type_is_none() {
    for record in (Case { fault: &["string-id"], ..BROKEN }).over_stdio().await {
        assert!(message(&record).contains("its id is of another type"), "{record:?}");
    }
    stats_after("string-id", 5, Stats::default()).await;
}

#[tokio::test]
async fn f30_of_two_answers_the_first_counts() {
    for record in (Case { fault: &["duplicate"], ..ANSWERED }).over_stdio().await {
        assert_eq!(text(&record), "wrote struck");
    }
    stats_after("duplicate", 5, Stats { unknown_answers: 1, ..Stats::default() }).await;
}

#[tokio::test]
async fn f31_a_thousand_calls_at_once_get_their_own_answers_in_any_order() {
    const CALLS: u64 = 1_000;
    let play = Stage::new().fixture(SERVER, &["echo"], 30).ready().await;
    let mut calls = JoinSet::new();
    for number in 0..CALLS {
        let host = play.host.clone();
        let lease = play.host.lease();
        // A prime scatters the delays, so few calls end in the order in which they began.
        let wait = (number * 7_919) % CALLS;
        calls.spawn(async move {
            let arguments = Json::from(&json!({"ms": wait, "steps": 1}));
            let proposed = ProposedCall::tool(SERVER, "slow", arguments);
            (wait, host.call(&lease, proposed, &Caller::person()).await)
        });
    }
    let mut ended = Vec::new();
    while let Some(call) = calls.join_next().await {
        let (wait, record) = call.unwrap();
        assert_eq!(text(&record), format!("slept {wait} ms"));
        ended.push(wait);
    }
    assert_eq!(ended.len(), 1_000);
    assert_eq!(play.peer().stats(), Stats::default());
    play.stop().await;
}

/// Returns the ledger's text of the answer that arrived after the call was closed.
async fn evidence(play: &Play, record: &switchboard_host::Record) -> serde_json::Value {
    eventually("the late answer is kept", 5 * SECOND, async || {
        play.full(record).await.late.is_some()
    })
    .await;
    serde_json::from_slice(&play.full(record).await.late.unwrap()).unwrap()
}

#[tokio::test]
async fn f32_an_answer_after_the_deadline_is_evidence_and_nothing_else() {
    let case = Case { fault: &["late", "--pause-ms", "1500"], ..TIMED_OUT };
    let kept = async {
        let play = Stage::new().flaky(&["late", "--pause-ms", "1300"], 1).ready().await;
        let record = play.write("late").await;
        assert_eq!(words(&record), (OutcomeKind::Unknown, Some("timeout")));
        let late = evidence(&play, &record).await;
        assert_eq!(late["content"][0]["text"], "wrote late");
        assert_eq!(text(&play.write("next").await), "wrote next", "it has its own answer");
        play.stop().await;
    };
    tokio::join!(case.over_stdio(), kept);
}

#[tokio::test]
async fn f33_an_answer_after_the_caller_left_is_evidence_and_nothing_else() {
    let play = Stage::new().flaky(&["late", "--pause-ms", "500"], 20).ready().await;
    let attention = CallOptions::default();
    let leave = async {
        eventually("the effect is there", SECOND, async || play.effects("late") == 1).await;
        attention.cancel.cancel();
    };
    let arguments = json!({"key": "late"});
    let (record, ()) = tokio::join!(play.call_with("write", &arguments, &attention), leave);
    assert_eq!(words(&record), (OutcomeKind::Cancelled, Some("by_caller")), "{record:?}");
    let late = evidence(&play, &record).await;
    assert_eq!(late["content"][0]["text"], "wrote late");
    assert_eq!(text(&play.write("next").await), "wrote next");
    play.stop().await;
}

#[tokio::test]
async fn f34_an_answer_with_a_result_and_an_error_is_none() {
    for record in (Case { fault: &["both-result-and-error"], ..BROKEN }).over_stdio().await {
        assert!(message(&record).contains("both a result and an error"), "{record:?}");
    }
    stats_after("both-result-and-error", 5, Stats::default()).await;
}

#[tokio::test]
async fn f34_an_answer_with_neither_result_nor_error_is_none() {
    for record in (Case { fault: &["neither"], ..BROKEN }).over_stdio().await {
        assert!(message(&record).contains("neither a result nor an error"), "{record:?}");
    }
    stats_after("neither", 5, Stats::default()).await;
}

#[tokio::test]
async fn f34_an_answer_that_does_not_say_jsonrpc_is_an_answer() {
    Case { fault: &["no-jsonrpc"], ..ANSWERED }.over_stdio().await;
}

#[tokio::test]
async fn f34_a_batch_is_no_answer_where_the_revision_has_none() {
    Case { fault: &["batch-answer"], ..BROKEN }.over_stdio().await;
    stats_after("batch-answer", 5, Stats::default()).await;
}

#[tokio::test]
async fn f35_of_a_huge_error_only_an_excerpt_is_kept() {
    let case = Case {
        fault: &["huge-error"],
        kind: OutcomeKind::Failed,
        reason: Some("rpc_error"),
        ..ANSWERED
    };
    for record in case.over_stdio().await {
        assert!(message(&record).contains("everything is on fire (code -32000)"), "{record:?}");
        assert!(message(&record).len() < 8 << 10, "{} bytes", message(&record).len());
    }
}

#[tokio::test]
async fn f36_a_flood_of_notifications_starves_no_call() {
    let case = Case {
        fault: &["notification-flood", "--count", "20000"],
        within: Duration::from_secs(15),
        ..ANSWERED
    };
    case.over_stdio().await;
}

#[tokio::test]
async fn f37_a_server_that_asks_during_a_call_gets_its_answers() {
    let stage = Stage::new().flaky(&["ask-during-call"], 20);
    let play = stage.ready().await;
    let record = play.write("asked").await;
    assert_eq!((words(&record), play.effects("asked")), ((OutcomeKind::Ok, None), 1), "{record:?}");
    assert!(record.duration < 5 * SECOND, "it took {:?}", record.duration);
    play.stop().await;
}

/// Some servers request the roots first and list their tools once they have them.
#[tokio::test]
async fn f37_a_server_that_asks_while_it_is_listed_gets_its_answers() {
    let flags = ["ask-during-call", "--on", "tools/list"];
    let begun = Instant::now();
    let play = Stage::new().flaky(&flags, 10).ready().await;
    assert!(begun.elapsed() < 5 * SECOND, "it took {:?}", begun.elapsed());
    assert_eq!(words(&play.write("listed").await), (OutcomeKind::Ok, None));
    play.stop().await;
}
