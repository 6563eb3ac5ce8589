//! F43 to F45 and F48 to F50: HTTP statuses that reject a call or report its failure.

use std::time::{Duration, Instant};

use serde_json::json;
use switchboard_catalog::ServerStatus;
use switchboard_host::{Caller, OutcomeKind, ProposedCall};

use crate::case::{ANSWERED, Case, REFUSED};
use crate::stage::{Play, SERVER, Stage, eventually, message, words};

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test]
async fn f43_a_server_that_wants_a_login_says_so_and_takes_the_right_header() {
    let stage = Stage::new();
    let fixture = stage.listening(&["flaky", "--fault", "unauthorized", "--token", "secret"]);
    let entry = |token: &str| json!({"url": fixture.url, "headers": {"Authorization": format!("Bearer {token}")}});
    let stage = stage.with(SERVER, entry("wrong")).with("right", entry("secret"));
    let play = stage.start();
    play.host.wait_settled(None).await;
    assert!(matches!(play.status(), ServerStatus::NeedsLogin(_)), "{:?}", play.status());
    assert_eq!(play.server("right").status, ServerStatus::Ready);
    let record = play.write("wrong").await;
    assert_eq!(words(&record), (OutcomeKind::NotSent, Some("not_ready")), "{record:?}");
    let arguments = json!({"key": "right"});
    let record = play.call_on(&play.host.lease(), "right", "write", &arguments).await;
    assert_eq!((words(&record), play.effects("right")), ((OutcomeKind::Ok, None), 1));
    play.stop().await;
}

#[tokio::test]
async fn f43_a_call_that_is_not_authorised_did_not_run() {
    let fault = ["status", "--status", "401"];
    Case { fault: &fault, reason: Some("needs_login"), ..REFUSED }.over_http().await;
}

#[tokio::test]
async fn f44_a_scope_that_is_missing_is_asked_for_once_and_not_in_a_loop() {
    let flags = ["flaky", "--fault", "insufficient-scope", "--times", "always"];
    let (stage, _fixture) = Stage::new().web(&flags, 5);
    let play = stage.ready().await;
    let record = play.write("narrow").await;
    assert_eq!(words(&record), (OutcomeKind::Refused, Some("forbidden")), "{record:?}");
    assert_eq!((play.effects("narrow"), play.received("tools/call")), (0, 1));
    play.stop().await;
}

#[tokio::test]
async fn f45_a_call_that_is_forbidden_did_not_run_and_is_not_repeated() {
    let fault = ["status", "--status", "403"];
    Case { fault: &fault, reason: Some("forbidden"), ..REFUSED }.over_http().await;
}

#[tokio::test]
async fn f48_a_server_that_says_when_to_come_back_is_asked_again_then() {
    let comes_back = async |status: &str| {
        let fault = ["status", "--status", status, "--retry-after", "1"];
        let case = Case { fault: &fault, attempts: 2, ..ANSWERED };
        for record in case.over_http().await {
            assert!(record.duration >= SECOND, "it took {:?}", record.duration);
        }
    };
    tokio::join!(comes_back("408"), comes_back("425"), comes_back("429"));
}

#[tokio::test]
async fn f48_a_date_to_come_back_at_is_understood() {
    // A date in the past: retry at once.
    let fault = ["status", "--status", "429", "--retry-after", "Wed, 21 Oct 2015 07:28:00 GMT"];
    Case { fault: &fault, attempts: 2, ..ANSWERED }.over_http().await;
}

#[tokio::test]
async fn f48_a_wait_beyond_the_deadline_or_without_sense_is_passed_on() {
    let far = "Fri, 31 Dec 9999 23:59:59 GMT";
    let longest = u64::MAX.to_string();
    for wait in ["3600", far, "soon", "-5", "1e3", "", longest.as_str()] {
        let fault = ["status", "--status", "429", "--retry-after", wait];
        let case = Case { fault: &fault, reason: Some("rate_limited"), ..REFUSED };
        let record = case.in_http_era("modern").await;
        let hint = record.outcome.hint.as_deref().unwrap_or_default();
        assert!(hint.contains(wait), "the hint is passed on: {record:?}");
    }
}

#[tokio::test]
async fn f48_without_a_time_to_come_back_at_nobody_comes_back() {
    let fault = ["status", "--status", "429"];
    Case { fault: &fault, reason: Some("rate_limited"), ..REFUSED }.over_http().await;
}

const FAILED: Case<'_> =
    Case { kind: OutcomeKind::Failed, reason: Some("may_have_executed"), ..ANSWERED };

#[tokio::test]
async fn f49_an_error_of_the_server_may_have_run_the_call_which_is_not_repeated() {
    for status in ["500", "502", "503", "504"] {
        let fault = ["status", "--status", status];
        for record in (Case { fault: &fault, ..FAILED }).over_http().await {
            assert!(message(&record).contains(status), "{record:?}");
        }
    }
}

#[tokio::test]
async fn f49_a_time_to_come_back_at_does_not_make_an_error_repeatable() {
    let fault = ["status", "--status", "503", "--retry-after", "1"];
    Case { fault: &fault, ..FAILED }.over_http().await;
}

#[tokio::test]
async fn f49_reading_is_repeated_twice_at_most() {
    for (times, kind, attempts) in [("2", OutcomeKind::Ok, 3), ("3", OutcomeKind::Failed, 3)] {
        let flags = ["flaky", "--fault", "status", "--status", "500"];
        let flags = [&flags[..], &["--on", "resources/read", "--times", times]].concat();
        let (stage, _fixture) = Stage::new().web(&flags, 5);
        let play = stage.ready().await;
        let proposed = ProposedCall::resource(SERVER, "test://static-text");
        let record = play.host.call(&play.host.lease(), proposed, &Caller::person()).await;
        assert_eq!(record.outcome.kind, kind, "{record:?}");
        assert_eq!(play.full(&record).await.attempts, attempts);
        assert_eq!(play.received("resources/read"), 3);
        play.stop().await;
    }
}

#[tokio::test]
async fn f49_a_list_that_failed_once_is_listed_again() {
    let flags = ["flaky", "--fault", "status", "--status", "500", "--on", "tools/list"];
    let (stage, _fixture) = Stage::new().web(&flags, 5);
    let play = stage.ready().await;
    play.until("the tools are listed", |fleet| {
        fleet.servers.values().all(|server| server.offers.tool("write").is_some())
    })
    .await;
    play.stop().await;
}

/// Calls until the server gets no more requests, and returns the number of calls.
async fn calls_until_peace(play: &Play) -> usize {
    for number in 0..20 {
        let record = play.write(&format!("burst-{number}")).await;
        if record.outcome.kind == OutcomeKind::NotSent {
            return number;
        }
        assert_eq!(words(&record), (OutcomeKind::Failed, Some("may_have_executed")), "{record:?}");
    }
    panic!("it was never left in peace");
}

#[tokio::test]
async fn f50_after_three_failures_in_a_row_calls_fail_at_once_until_a_probe_succeeds() {
    for (era, probe) in [("legacy", "ping"), ("modern", "server/discover")] {
        let flags = ["flaky", "--era", era, "--fault", "status", "--status", "500"];
        let flags = [&flags[..], &["--times", "3"]].concat();
        let (stage, _fixture) = Stage::new().web(&flags, 5);
        let play = stage.ready().await;
        let probes = play.received(probe);
        assert_eq!(calls_until_peace(&play).await, 3);
        let calls = play.received("tools/call");
        let begun = Instant::now();
        let record = play.write("resting").await;
        assert_eq!(words(&record), (OutcomeKind::NotSent, Some("not_ready")), "{record:?}");
        assert!(record.duration < Duration::from_millis(100), "it took {:?}", record.duration);
        eventually("a probe was sent", 3 * SECOND, async || play.received(probe) > probes).await;
        let open = async || play.server(SERVER).instances[0].health.breaker_reason().is_none();
        eventually("it is trusted again", SECOND, open).await;
        assert_eq!(play.received("tools/call"), calls, "no call was used as a probe");
        assert!(begun.elapsed() < 3 * SECOND, "it took {:?}", begun.elapsed());
        let record = play.write("well").await;
        assert_eq!((words(&record), play.effects("well")), ((OutcomeKind::Ok, None), 1));
        play.stop().await;
    }
}

#[tokio::test]
async fn f50_repeated_attempts_stay_within_their_budget() {
    const CALLS: usize = 25;
    let stage = Stage::new();
    // Every second request fails, so every call would need one retry.
    let flags = ["flaky", "--fault", "status", "--status", "500", "--times", "always"];
    let fixture = stage.listening(&[&flags[..], &["--every", "2"]].concat());
    let tools = json!({"write": {"idempotent": true}});
    let play = stage.with(SERVER, json!({"url": fixture.url, "tools": tools})).ready().await;
    let mut failed = 0;
    for number in 0..CALLS {
        let record = play.write(&format!("key-{number}")).await;
        failed += usize::from(record.outcome.kind == OutcomeKind::Failed);
    }
    let requests = play.received("tools/call");
    // A budget of ten retries, plus one for every five requests.
    let allowed = 10..=10 + requests / 5;
    assert!(allowed.contains(&(requests - CALLS)), "{requests} requests for {CALLS} calls");
    assert!(failed > 0, "beyond the budget a failure is told");
    play.stop().await;
}
