//! F10, F11, F19 and F36: a caller gets its answer in time, whatever the server does.

use std::time::{Duration, Instant};

use serde_json::json;
use switchboard_host::{CallOptions, OutcomeKind};
use switchboard_wire::{Request, RequestError};
use tokio::sync::mpsc;

use crate::case::{Case, TIMED_OUT};
use crate::processes::{GONE, gone};
use crate::stage::{SERVER, Stage, eventually, text, words};
use crate::wire::Line;

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test]
async fn f10_a_call_that_hangs_is_unknown_at_its_deadline_and_is_cancelled() {
    let case = Case { fault: &["hang"], effects: 0, ..TIMED_OUT };
    let told = async {
        let play = Stage::new().flaky(&["hang"], 1).ready().await;
        play.write("hangs").await;
        eventually("the server is told", SECOND, async || {
            play.home.journal_lines().iter().any(|line| line.starts_with("cancelled "))
        })
        .await;
        play.stop().await;
    };
    let (records, ()) = tokio::join!(case.over_stdio(), told);
    for record in records {
        assert!(record.duration >= SECOND, "it took {:?}", record.duration);
        let hint = record.outcome.hint.as_deref().unwrap_or_default();
        assert!(hint.contains("`timeout`"), "{record:?}");
    }
}

#[tokio::test]
async fn f10_a_tool_may_have_a_deadline_of_its_own() {
    let stage = Stage::new();
    let once = stage.path("struck");
    let args = ["flaky", "--fault", "hang", "--once-file", &once];
    let entry = json!({
        "command": switchboard_testkit::binary(), "args": args,
        "timeout": 60, "tools": {"write": {"timeout": 1}},
    });
    let play = stage.with(SERVER, entry).ready().await;
    let record = play.write("hangs").await;
    assert_eq!(words(&record), (OutcomeKind::Unknown, Some("timeout")));
    assert!(record.duration < 2 * SECOND, "it took {:?}", record.duration);
    play.stop().await;
}

#[tokio::test]
async fn f11_progress_gives_a_call_more_time() {
    let play = Stage::new().fixture(SERVER, &["echo"], 1).ready().await;
    let (progress, mut reports) = mpsc::channel(64);
    let attention = CallOptions { progress: Some(progress), ..CallOptions::default() };
    let record = play.call_with("slow", &json!({"ms": 2_000, "steps": 8}), &attention).await;
    assert_eq!(words(&record), (OutcomeKind::Ok, None), "{record:?}");
    drop(attention);
    let mut steps = Vec::new();
    while let Some(report) = reports.recv().await {
        steps.push(report.read::<serde_json::Value>().unwrap()["progress"].as_u64().unwrap());
    }
    assert_eq!(steps, (1..=8).collect::<Vec<_>>(), "in order, and before the answer");
    play.stop().await;
}

#[tokio::test]
async fn f11_progress_for_ever_does_not_last_for_ever() {
    let line = Line::open(&["flaky", "--fault", "progress-forever", "--pause-ms", "50"]).await;
    let (progress, mut reports) = mpsc::channel(64);
    let params = r#"{"name":"echo","arguments":{"text":"x"}}"#;
    let request = Request {
        idle: Duration::from_millis(400),
        total: SECOND,
        progress: Some(progress),
        ..Request::new("tools/call", params, SECOND)
    };
    let begun = Instant::now();
    let outcome = line.peer.request(request).await;
    assert!(matches!(outcome, Err(RequestError::TimedOut(_))), "{outcome:?}");
    assert!(begun.elapsed() >= SECOND, "progress did not reset the idle time");
    assert!(begun.elapsed() < 2 * SECOND, "it took {:?}", begun.elapsed());
    assert!(reports.try_recv().is_ok());
    line.close().await;
}

#[tokio::test]
async fn f11_progress_that_nobody_asked_for_gives_no_time() {
    let case = Case { fault: &["progress-forever"], effects: 0, ..TIMED_OUT };
    case.over_stdio().await;
}

#[tokio::test]
async fn f19_a_server_that_stops_reading_defeats_no_deadline_and_no_neighbour() {
    let play = Stage::new().flaky(&["stop-reading"], 1).fixture("well", &["echo"], 5).ready().await;
    let lease = play.host.lease();
    let large = json!({"key": "x".repeat(10 << 20)});
    let small = json!({"key": "beside"});
    let (stuck, beside) = tokio::join!(
        play.call_on(&lease, SERVER, "write", &large),
        play.call_on(&lease, "well", "write", &small),
    );
    assert_eq!(words(&stuck), (OutcomeKind::Unknown, Some("may_have_executed")), "{stuck:?}");
    assert!(stuck.duration < 2 * SECOND, "it took {:?}", stuck.duration);
    assert_eq!((words(&beside), play.effects("beside")), ((OutcomeKind::Ok, None), 1));
    assert!(beside.duration < SECOND, "it took {:?}", beside.duration);
    // Half a message is in the pipe, so the connection is closed and a new one is made.
    let next = play.write("next").await;
    assert_eq!((words(&next), play.effects("next")), ((OutcomeKind::Ok, None), 1), "{next:?}");
    play.stop().await;
}

#[tokio::test]
async fn f19_what_waits_behind_a_blocked_write_was_not_sent() {
    let play = Stage::new().flaky(&["stop-reading", "--era", "legacy"], 1).ready().await;
    let lease = play.host.lease();
    let large = json!({"key": "x".repeat(1 << 20)});
    let small = json!({"key": "behind"});
    let behind = async {
        // The first call has to be in the pipe before the second is made.
        eventually("the first call is under way", SECOND, async || play.peer().in_flight() > 0)
            .await;
        play.call_on(&lease, SERVER, "write", &small).await
    };
    let (stuck, behind) = tokio::join!(play.call_on(&lease, SERVER, "write", &large), behind);
    assert_eq!(words(&stuck), (OutcomeKind::Unknown, Some("may_have_executed")), "{stuck:?}");
    // It was provably not sent, so it was sent again once the server was back.
    assert_eq!(play.effects("behind"), usize::from(behind.outcome.kind == OutcomeKind::Ok));
    assert!(
        matches!(behind.outcome.kind, OutcomeKind::Ok | OutcomeKind::NotSent),
        "never unknown: {behind:?}"
    );
    play.stop().await;
}

/// The fault of rmcp: neither the call nor closing returned, and the child was left behind.
#[tokio::test]
async fn rmcp_a_child_that_stops_reading_does_not_keep_the_host() {
    let play = Stage::new().flaky(&["stop-reading"], 2).kept().ready().await;
    let pids = play.started();
    let record = play.write(&"x".repeat(400_000)).await;
    assert_eq!(words(&record), (OutcomeKind::Unknown, Some("may_have_executed")), "{record:?}");
    assert!(record.duration < 3 * SECOND, "it took {:?}", record.duration);
    let begun = Instant::now();
    let _home = play.stop().await;
    assert!(begun.elapsed() < GONE, "stopping took {:?}", begun.elapsed());
    gone(&pids, GONE.saturating_sub(begun.elapsed())).await;
}

#[tokio::test]
async fn f36_the_progress_of_one_call_gives_no_time_to_another() {
    let play = Stage::new().flaky(&["hang", "--era", "legacy"], 1).ready().await;
    let (progress, _reports) = mpsc::channel(64);
    let attention = CallOptions { progress: Some(progress), ..CallOptions::default() };
    let lively = async {
        // The fault hits whichever call arrives first, so this one waits for the other.
        let arrived = async || play.received("tools/call") > 0;
        eventually("the other call has arrived", SECOND, arrived).await;
        play.call_with("slow", &json!({"ms": 2_500, "steps": 10}), &attention).await
    };
    let (hung, lively) = tokio::join!(play.write("hangs"), lively);
    assert_eq!(words(&hung), (OutcomeKind::Unknown, Some("timeout")), "{hung:?}");
    assert!(hung.duration < 2 * SECOND, "it took {:?}", hung.duration);
    assert_eq!(
        (words(&lively), text(&lively).as_str()),
        ((OutcomeKind::Ok, None), "slept 2500 ms")
    );
    play.stop().await;
}
