//! F39 to F42 and F58: servers on the network that are unreachable, always or at times.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use serde_json::json;
use switchboard_catalog::ServerStatus;
use switchboard_host::OutcomeKind;
use switchboard_testkit::HttpFixture;

use crate::case::{Case, UNKNOWN};
use crate::stage::{Play, SERVER, Stage, message, words};

const SECOND: Duration = Duration::from_secs(1);

/// Starts a host with a server at this address, which does not come up within `limit`.
async fn unreachable(url: &str, limit: Duration) -> Play {
    let begun = Instant::now();
    let play = Stage::new().with(SERVER, json!({"url": url, "timeout": 1})).start();
    play.until_status("it is given up for now", ServerStatus::is_settled).await;
    assert!(begun.elapsed() < limit, "{url} took {:?}", begun.elapsed());
    let status = play.status();
    assert!(matches!(status, ServerStatus::Waiting { .. }), "{status:?}");
    let told = &status.failure().unwrap().message;
    assert!(told.contains("cannot connect to") && told.contains("nothing was sent"), "{told}");
    let record = play.write("never").await;
    assert_eq!(words(&record), (OutcomeKind::NotSent, Some("not_ready")), "{record:?}");
    assert!(record.duration < Duration::from_millis(100), "it took {:?}", record.duration);
    play
}

/// Returns an address whose port has no listener.
fn nobody() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}/mcp", listener.local_addr().unwrap())
}

#[tokio::test]
async fn f39_a_refused_connection_is_told_within_a_second() {
    let play = unreachable(&nobody(), SECOND).await;
    let status = play.status();
    let told = &status.failure().unwrap().message;
    assert!(told.to_lowercase().contains("connection refused"), "{told}");
    play.stop().await;
}

/// Ends a server, and gives the connection pool time to notice: a connection that closes during a
/// call is another fault.
async fn go(fixture: HttpFixture) {
    drop(fixture);
    tokio::time::sleep(Duration::from_millis(50)).await;
}

#[tokio::test]
async fn f39_a_call_to_a_server_that_went_away_is_tried_three_times_and_was_not_sent() {
    let went_away = async |era: &str| {
        let (stage, fixture) = Stage::new().web(&["echo", "--era", era], 5);
        let play = stage.ready().await;
        go(fixture).await;
        let record = play.write("gone").await;
        assert_eq!(words(&record), (OutcomeKind::NotSent, Some("no_connection")), "{record:?}");
        // The pauses between the attempts are a quarter of a second and a second.
        assert_eq!(play.full(&record).await.attempts, 3, "{record:?}");
        assert!(record.duration < 2 * SECOND, "it took {:?}", record.duration);
        play.stop().await;
    };
    tokio::join!(went_away("legacy"), went_away("modern"));
}

#[tokio::test]
async fn f39_the_attempts_stay_within_the_deadline() {
    let (stage, fixture) = Stage::new().web(&["echo"], 1);
    let play = stage.ready().await;
    go(fixture).await;
    let record = play.write("gone").await;
    assert_eq!(words(&record), (OutcomeKind::NotSent, Some("no_connection")), "{record:?}");
    assert_eq!(play.full(&record).await.attempts, 2, "{record:?}");
    assert!(record.duration < SECOND, "it took {:?}", record.duration);
    play.stop().await;
}

#[tokio::test]
async fn f40_a_name_that_does_not_exist_is_told_within_the_time_of_a_connection() {
    let play = unreachable("http://nonexistent.invalid/mcp", 6 * SECOND).await;
    let status = play.status();
    let told = &status.failure().unwrap().message;
    assert!(told.contains("dns") || told.contains("lookup"), "{told}");
    play.stop().await;
}

#[tokio::test]
async fn f41_a_server_without_tls_is_not_talked_to_in_the_open() {
    let stage = Stage::new();
    let fixture = stage.listening(&["echo"]);
    let url = fixture.url.replace("http://", "https://");
    unreachable(&url, 2 * SECOND).await.stop().await;
    let trace = std::fs::read_to_string(stage.path("trace")).unwrap();
    assert_eq!(trace.lines().count(), 1, "only its start: {trace}");
}

#[tokio::test]
async fn f41_a_handshake_that_stalls_is_given_up_after_the_time_of_a_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}/mcp", listener.local_addr().unwrap());
    unreachable(&url, 7 * SECOND).await.stop().await;
}

#[tokio::test]
async fn f42_a_connection_that_breaks_after_the_request_is_unknown_and_the_call_is_not_repeated() {
    let cases = [["reset-before-headers"], ["close-before-headers"]];
    for fault in &cases {
        Case { fault, ..UNKNOWN }.over_http().await;
    }
}

#[tokio::test]
async fn f42_what_the_operator_calls_repeatable_is_repeated() {
    for word in ["idempotent", "readOnly"] {
        let stage = Stage::new();
        let fixture = stage.listening(&["flaky", "--fault", "reset-before-headers"]);
        let entry = json!({"url": fixture.url, "timeout": 5, "tools": {"write": {word: true}}});
        let play = stage.with(SERVER, entry).ready().await;
        let record = play.write("twice").await;
        assert_eq!((words(&record), play.effects("twice")), ((OutcomeKind::Ok, None), 2));
        assert_eq!(play.full(&record).await.attempts, 2);
        play.stop().await;
    }
}

/// The server closes each connection about when the next request is sent on it.
#[tokio::test]
async fn f58_a_pooled_connection_that_closes_under_a_call_runs_nothing_twice() {
    let (stage, _fixture) =
        Stage::new().web(&["flaky", "--fault", "idle-close", "--pause-ms", "2"], 5);
    let play = stage.ready().await;
    let mut answered = 0;
    for number in 0..60_u64 {
        let key = format!("key-{number}");
        let record = play.write(&key).await;
        let effects = play.effects(&key);
        match words(&record) {
            (OutcomeKind::Ok, None) => assert_eq!(effects, 1, "{record:?}"),
            (OutcomeKind::Unknown, Some("may_have_executed")) => assert!(effects <= 1),
            other => panic!("{other:?}: {}", message(&record)),
        }
        answered += usize::from(record.outcome.kind == OutcomeKind::Ok);
        // The pauses range from before the connection closes to after it.
        tokio::time::sleep(Duration::from_micros(number * 80)).await;
    }
    assert!(answered >= 30, "only {answered} of 60 calls were answered");
    play.stop().await;
}
