//! F51 to F53 and F56: invalid and endless responses.

use std::time::Duration;

use switchboard_host::OutcomeKind;

use crate::case::{ANSWERED, Case, TIMED_OUT, UNKNOWN};
use crate::stage::{Stage, eventually, message, words};

const BROKEN: Case<'_> = Case { reason: Some("protocol_error"), ..UNKNOWN };

#[tokio::test]
async fn f51_a_web_page_is_no_answer() {
    for record in (Case { fault: &["html"], ..BROKEN }).over_http().await {
        assert!(message(&record).contains("`text/html`"), "{record:?}");
    }
}

#[tokio::test]
async fn f51_a_response_without_a_body_says_nothing_about_the_call() {
    Case { fault: &["empty"], ..UNKNOWN }.over_http().await;
    Case { fault: &["204"], ..UNKNOWN }.over_http().await;
}

#[tokio::test]
async fn f52_a_stream_that_is_cut_is_unknown_and_the_call_is_not_sent_again() {
    Case { fault: &["sse-cut"], ..UNKNOWN }.over_http().await;
    Case { fault: &["sse-cut-between"], ..UNKNOWN }.over_http().await;
}

#[tokio::test]
async fn f53_a_stream_of_comments_gives_a_call_no_time() {
    Case { fault: &["sse-stall"], ..TIMED_OUT }.over_http().await;
}

#[tokio::test]
async fn f53_a_silent_stream_ends_at_the_deadline() {
    Case { fault: &["sse-silence"], ..TIMED_OUT }.over_http().await;
}

#[tokio::test]
async fn f56_a_body_without_an_end_ends_at_the_deadline() {
    Case { fault: &["endless-body"], ..TIMED_OUT }.over_http().await;
}

#[tokio::test]
async fn f56_a_body_without_an_end_is_not_read_beyond_the_limit() {
    // Without pauses between chunks, the body passes the limit long before the deadline.
    let fault = ["endless-body", "--pause-ms", "0"];
    let case = Case { fault: &fault, within: Duration::from_secs(15), ..UNKNOWN };
    let record = case.in_http_era("modern").await;
    assert!(message(&record).contains("more than 67108864 bytes"), "{record:?}");
}

#[tokio::test]
async fn f56_a_body_that_is_shorter_than_it_says_is_unknown() {
    Case { fault: &["short-body"], ..UNKNOWN }.over_http().await;
}

#[tokio::test]
async fn f56_a_body_that_is_cut_by_its_own_length_is_no_answer() {
    Case { fault: &["long-body"], ..BROKEN }.over_http().await;
}

/// The faults of messages, which are the same over HTTP.
#[tokio::test]
async fn answers_over_http_are_judged_like_those_over_standard_streams() {
    let cases = [
        Case { fault: &["both-result-and-error"], ..BROKEN },
        Case { fault: &["neither"], ..BROKEN },
        Case { fault: &["string-id"], ..BROKEN },
        Case { fault: &["no-jsonrpc"], ..ANSWERED },
        Case {
            fault: &["huge-error"],
            kind: OutcomeKind::Failed,
            reason: Some("rpc_error"),
            ..ANSWERED
        },
        Case { fault: &["hang"], effects: 0, ..TIMED_OUT },
    ];
    for case in cases {
        case.over_http().await;
    }
}

#[tokio::test]
async fn f10_a_call_over_http_that_hangs_is_cancelled_in_the_way_of_its_era() {
    for era in ["legacy", "modern"] {
        let (stage, _fixture) = Stage::new().web(&["flaky", "--era", era, "--fault", "hang"], 1);
        let play = stage.ready().await;
        let record = play.write("hangs").await;
        assert_eq!(words(&record), (OutcomeKind::Unknown, Some("timeout")), "{record:?}");
        let told = async || match era {
            "legacy" => play.received("notifications/cancelled") == 1,
            // Closing the response is the cancellation.
            _ => play.home.journal_lines().iter().any(|line| line.starts_with("cancelled ")),
        };
        eventually("the server is told", Duration::from_secs(2), told).await;
        play.stop().await;
    }
}
