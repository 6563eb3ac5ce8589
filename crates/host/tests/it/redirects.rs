//! F55: redirects are followed within one origin and up to a limit, and leak no credentials.

use serde_json::json;
use switchboard_host::OutcomeKind;

use crate::case::{ANSWERED, Case, REFUSED};
use crate::stage::{SERVER, Stage, message, words};

const NOT_FOLLOWED: Case<'_> = Case { reason: Some("redirect"), ..REFUSED };

#[tokio::test]
async fn f55_redirects_within_the_origin_are_followed_ten_times_at_most() {
    for hops in ["1", "10"] {
        let fault = ["redirect-same-origin", "--hops", hops];
        Case { fault: &fault, ..ANSWERED }.over_http().await;
    }
    let fault = ["redirect-same-origin", "--hops", "11"];
    Case { fault: &fault, ..NOT_FOLLOWED }.over_http().await;
}

#[tokio::test]
async fn f55_a_redirect_loop_ends() {
    let (stage, _fixture) = Stage::new().web(&["flaky", "--fault", "redirect-loop"], 5);
    let play = stage.ready().await;
    let record = play.write("round").await;
    assert_eq!(words(&record), (OutcomeKind::Refused, Some("redirect")), "{record:?}");
    assert_eq!((play.effects("round"), play.received("tools/call")), (0, 11));
    play.stop().await;
}

#[tokio::test]
async fn f55_a_redirect_that_loses_the_body_is_not_followed() {
    for status in ["301", "302", "303"] {
        let fault = ["redirect-same-origin", "--status", status];
        Case { fault: &fault, ..NOT_FOLLOWED }.over_http().await;
    }
}

#[tokio::test]
async fn f55_a_redirect_to_another_origin_is_not_followed_and_gets_no_credentials() {
    let elsewhere = Stage::new();
    let other = elsewhere.listening(&["echo"]);
    for status in ["303", "307", "308"] {
        let stage = Stage::new();
        let flags = ["flaky", "--fault", "redirect-cross-origin", "--to", &other.url];
        let fixture = stage.listening(&[&flags[..], &["--status", status]].concat());
        let headers = json!({"Authorization": "Bearer secret"});
        let entry = json!({"url": fixture.url, "timeout": 5, "headers": headers});
        let play = stage.with(SERVER, entry).ready().await;
        let record = play.write("away").await;
        assert_eq!(words(&record), (OutcomeKind::Refused, Some("redirect")), "{record:?}");
        assert!(message(&record).contains(&other.url), "where to is told: {record:?}");
        assert_eq!(play.effects("away"), 0);
        play.stop().await;
    }
    let trace = std::fs::read_to_string(elsewhere.path("trace")).unwrap();
    assert_eq!(trace.lines().count(), 1, "nothing but its start reached the other: {trace}");
}
