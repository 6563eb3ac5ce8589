//! F15, F17, F20, F21 and F38: servers that restart, repeatedly or several at once.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Map, json};
use switchboard_catalog::ServerStatus;
use switchboard_host::{Lease, OutcomeKind};

use crate::another_process::AnotherProcess;
use crate::processes::kill;
use crate::stage::{SERVER, Stage, eventually, fixture, text, words, write_config};

#[tokio::test]
async fn f15_and_f21_fifty_restarts_leave_no_zombie_no_file_and_no_thread_behind() {
    let stage = Stage::new().fixture(SERVER, &["echo", "--era", "legacy"], 5);
    let mut host = AnotherProcess::start(&stage, 50);
    assert_eq!([host.hear(), host.hear()], ["ready", "as before"]);
    assert_eq!(stage.started().len(), 56, "each restart was one start");
}

#[tokio::test]
async fn f17_a_server_in_a_crash_loop_rests_longer_each_time_and_calls_fail_at_once() {
    let stage = Stage::new().fixture(SERVER, &["flaky", "--fault", "crash-loop"], 5);
    let play = stage.start();
    let waits = |status: &ServerStatus| matches!(status, ServerStatus::Waiting { .. });
    play.until_status("it rests", waits).await;
    let ServerStatus::Waiting { until, failure } = play.status() else { unreachable!() };
    let wait = until.saturating_duration_since(Instant::now());
    assert!(wait > Duration::from_millis(1_300), "after the second crash it waits for {wait:?}");
    assert_eq!(failure.exit.as_deref(), Some("exit status 1"), "{failure:?}");
    let started = play.started().len();
    let record = play.write("meanwhile").await;
    assert_eq!(words(&record), (OutcomeKind::NotSent, Some("not_ready")), "{record:?}");
    assert!(record.duration < Duration::from_millis(100), "it took {:?}", record.duration);
    assert_eq!(play.started().len(), started, "a call does not start it again");
    play.until_status("it is tried again", |status| !waits(status)).await;
    play.until_status("it rests again", waits).await;
    let ServerStatus::Waiting { until, .. } = play.status() else { unreachable!() };
    let longer = until.saturating_duration_since(Instant::now());
    assert!(longer > wait, "{longer:?} after {wait:?}");
    play.stop().await;
}

#[tokio::test]
async fn f17_a_single_crash_is_made_good_at_once() {
    let play = Stage::new().fixture(SERVER, &["echo"], 5).ready().await;
    let lease = play.host.lease();
    kill(play.started()[0]);
    let begun = Instant::now();
    play.until_status("the crash is noticed", |status| *status != ServerStatus::Ready).await;
    let record = play.call_on(&lease, SERVER, "write", &json!({"key": "after"})).await;
    assert_eq!((words(&record), play.effects("after")), ((OutcomeKind::Ok, None), 1));
    assert!(begun.elapsed() < Duration::from_secs(2), "it took {:?}", begun.elapsed());
    // The offers are unchanged, so the data derived from them is not computed again.
    let offers = |lease: &Lease| Arc::clone(&lease.fleet().servers[SERVER].offers);
    assert!(Arc::ptr_eq(&offers(&lease), &offers(&play.host.lease())));
    play.stop().await;
}

/// Ids restart with each connection, so two connections use the same ids at the same time here.
#[tokio::test]
async fn f38_a_connection_that_is_replaced_answers_its_own_calls_only() {
    let stage = Stage::new().fixture(SERVER, &["echo", "--era", "legacy"], 10);
    let play = stage.ready().await;
    let old = play.host.lease();
    let first = play.peer();
    let slow = async {
        let arguments = json!({"ms": 2_000, "steps": 1});
        play.call_on(&old, SERVER, "slow", &arguments).await
    };
    let quick = async {
        eventually("the first call is under way", Duration::from_secs(2), async || {
            first.in_flight() > 0
        })
        .await;
        let changed = fixture(&play.home, &["echo", "--era", "legacy", "--tools", "1"], 10);
        write_config(&play.home, &Map::from_iter([(SERVER.to_owned(), changed)]));
        play.until("the new one is there", |fleet| {
            fleet.servers.values().any(|server| server.offers.tool("tool_0001").is_some())
        })
        .await;
        play.call("echo", json!({"text": "from the new one"})).await
    };
    let (slow, quick) = tokio::join!(slow, quick);
    assert_eq!((words(&slow), text(&slow).as_str()), ((OutcomeKind::Ok, None), "slept 2000 ms"));
    assert_eq!(
        (words(&quick), text(&quick).as_str()),
        ((OutcomeKind::Ok, None), "from the new one")
    );
    assert!(quick.duration < slow.duration, "{quick:?}");
    play.stop().await;
}
