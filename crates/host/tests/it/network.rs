//! F61: a network that is slow, loses data, cuts connections or falls silent.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde_json::json;
use switchboard_host::{OutcomeKind, Record};
use switchboard_testkit::{HttpFixture, ProxyFront, Weather};

use crate::stage::{Play, SERVER, Stage, eventually, message, words};

const SECOND: Duration = Duration::from_secs(1);
const fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

/// Starts a host that reaches its server over a network whose conditions the test controls.
async fn over(timeout_seconds: u64) -> (Play, ProxyFront, HttpFixture) {
    let stage = Stage::new();
    let fixture = stage.listening(&["echo"]);
    let front = ProxyFront::start(&fixture.origin());
    let entry = json!({"url": front.url("127.0.0.1"), "timeout": timeout_seconds});
    (stage.with(SERVER, entry).ready().await, front, fixture)
}

/// Fails unless the call was answered and ran once, or its outcome is unknown, or it was not sent
/// and did not run.
fn check(play: &Play, record: &Record, key: &str) {
    let effects = play.effects(key);
    match words(record) {
        (OutcomeKind::Ok, None) => assert_eq!(effects, 1, "{record:?}"),
        (OutcomeKind::Unknown, Some("may_have_executed" | "timeout" | "protocol_error")) => {
            assert!(effects <= 1, "{record:?}");
        }
        (OutcomeKind::NotSent, Some(_)) => assert_eq!(effects, 0, "{record:?}"),
        other => panic!("{other:?}: {}", message(record)),
    }
}

#[tokio::test]
async fn f61_calls_over_a_slow_and_lossy_network_are_answered_and_run_once() {
    const CALLERS: usize = 8;
    const CALLS: usize = 8;
    let (play, front, _fixture) = over(20).await;
    let lossy = Weather { lost_percent: 10, again: ms(300), ..Weather::default() };
    front.weather(Weather { delay: ms(50), jitter: ms(100), ..lossy });
    let caller = async |caller: usize| {
        let mut slowest = Duration::ZERO;
        for number in 0..CALLS {
            let key = format!("key-{caller}-{number}");
            let record = play.write(&key).await;
            let found = (words(&record), play.effects(&key));
            assert_eq!(found, ((OutcomeKind::Ok, None), 1), "{record:?}");
            slowest = slowest.max(record.duration);
        }
        slowest
    };
    let slowest = join_all((0..CALLERS).map(caller)).await.into_iter().max().unwrap();
    assert!(slowest >= ms(100), "the weather was not felt: {slowest:?}");
    assert!(slowest < 20 * SECOND, "the deadline holds: {slowest:?}");
    assert_eq!(play.peer().in_flight(), usize::from(play.received("subscriptions/listen") > 0));
    // One connection per caller, and those for listening, listing and probing.
    assert!(
        front.accepted_connections() <= CALLERS + 8,
        "{} connections",
        front.accepted_connections()
    );
    play.stop().await;
}

#[tokio::test]
async fn f61_a_network_that_cuts_connections_runs_nothing_twice_and_is_recovered_from() {
    let (play, front, _fixture) = over(5).await;
    front.weather(Weather { delay: ms(2), cut_per_mille: 100, ..Weather::default() });
    let mut kinds = std::collections::BTreeSet::new();
    for number in 0..80 {
        let key = format!("key-{number}");
        let record = play.write(&key).await;
        check(&play, &record, &key);
        kinds.insert(record.outcome.kind.as_str());
        if record.outcome.kind == OutcomeKind::NotSent {
            // The circuit breaker opens after consecutive failures; the probe follows after a
            // while.
            tokio::time::sleep(ms(100)).await;
        }
    }
    assert!(kinds.contains("ok") && kinds.len() > 1, "{kinds:?}");
    front.weather(Weather::default());
    let well = async || play.write("well").await.outcome.kind == OutcomeKind::Ok;
    eventually("calls are answered again", 15 * SECOND, well).await;
    assert_eq!(play.effects("well"), 1);
    play.stop().await;
}

#[tokio::test]
async fn f61_a_network_that_falls_silent_ends_at_the_deadline_and_not_with_the_network() {
    let (play, front, _fixture) = over(1).await;
    front.weather(Weather { stalled: true, ..Weather::default() });
    let begun = Instant::now();
    let records = join_all((0..8).map(|_| play.write("into the silence"))).await;
    for record in &records {
        assert_eq!(words(record), (OutcomeKind::Unknown, Some("timeout")), "{record:?}");
    }
    assert!(begun.elapsed() < 3 * SECOND, "it took {:?}", begun.elapsed());
    assert_eq!(play.effects("into the silence"), 0);
    front.weather(Weather::default());
    let well = async || play.write("well").await.outcome.kind == OutcomeKind::Ok;
    eventually("calls are answered again", 15 * SECOND, well).await;
    assert_eq!(play.effects("well"), 1);
    play.stop().await;
}
