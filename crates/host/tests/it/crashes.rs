//! F05 to F09 and F18: processes that exit, or close their streams, around a call.

use serde_json::json;
use switchboard_host::OutcomeKind;

use crate::case::{ANSWERED, Case, UNKNOWN};
use crate::stage::{SERVER, Stage, message, words};

const BEFORE_READING: Case<'_> = Case { fault: &["crash-before-read"], effects: 0, ..UNKNOWN };
const AFTER_READING: Case<'_> = Case { fault: &["crash-after-read"], effects: 0, ..UNKNOWN };
const AFTER_THE_EFFECT: Case<'_> = Case { fault: &["crash-after-effect"], effects: 1, ..UNKNOWN };
const HALF_AN_ANSWER: Case<'_> = Case { fault: &["half-line"], effects: 1, ..UNKNOWN };
const NO_LAST_NEWLINE: Case<'_> = Case { fault: &["no-newline"], ..ANSWERED };
const CLOSED_OUTPUT: Case<'_> = Case { fault: &["closed-stdout"], effects: 0, ..UNKNOWN };

#[tokio::test]
async fn f05_a_crash_before_the_request_was_read_is_unknown() {
    for record in BEFORE_READING.over_stdio().await {
        assert!(record.duration.as_secs() < 1, "it took {:?}", record.duration);
    }
}

#[tokio::test]
async fn f06_a_crash_after_the_request_was_read_is_unknown() {
    AFTER_READING.over_stdio().await;
}

#[tokio::test]
async fn f07_a_crash_after_the_effect_looks_like_one_before_it() {
    let with_effect = AFTER_THE_EFFECT.over_stdio().await.map(|record| record.outcome);
    let without = AFTER_READING.over_stdio().await.map(|record| record.outcome);
    assert_eq!(with_effect, without);
}

#[tokio::test]
async fn f08_a_crash_in_the_middle_of_an_answer_is_unknown() {
    for record in HALF_AN_ANSWER.over_stdio().await {
        assert!(message(&record).contains("ended in the middle of `{"), "{record:?}");
        assert!(message(&record).len() < 1_024, "the rest is an excerpt: {record:?}");
        assert_eq!(record.outcome.result, None);
    }
}

#[tokio::test]
async fn f09_a_last_answer_without_a_line_break_counts() {
    NO_LAST_NEWLINE.over_stdio().await;
}

#[tokio::test]
async fn f18_an_output_that_the_server_closed_is_unknown() {
    CLOSED_OUTPUT.over_stdio().await;
}

#[tokio::test]
async fn f18_a_server_may_close_its_standard_error() {
    let program = switchboard_testkit::binary();
    let line = format!("exec 2>&-; exec '{}' echo", program.display());
    for kept in [false, true] {
        let entry = json!({"command": "sh", "args": ["-c", line], "dangerous": ["eval"]});
        let stage = Stage::new().with(SERVER, entry);
        let play = if kept { stage.kept() } else { stage }.ready().await;
        let record = play.call("echo", json!({"text": "heard"})).await;
        assert_eq!(words(&record), (OutcomeKind::Ok, None), "kept: {kept}: {record:?}");
        play.stop().await;
    }
}

#[tokio::test]
async fn crashes_look_the_same_behind_the_keeper() {
    let cases = [
        BEFORE_READING, AFTER_READING, AFTER_THE_EFFECT, HALF_AN_ANSWER, NO_LAST_NEWLINE,
        CLOSED_OUTPUT,
    ];
    for case in cases {
        case.over_kept_stdio().await;
    }
}
