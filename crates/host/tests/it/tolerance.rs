//! Input that a widely used MCP client rejects or loses, and the host does not.

use serde_json::{Value, json};
use switchboard_catalog::Tool;
use switchboard_host::OutcomeKind;
use switchboard_wire::Revision;

use crate::case::{ANSWERED, Case, UNKNOWN};
use crate::stage::{SERVER, Stage, message, result, text, words};

/// The result of the fault `unknown-fields`, byte for byte.
const ODD_RESULT: &str = concat!(
    r#"{"zebra":1,"structuredContent":{"z":18446744073709551616,"y":-9223372036854775809,"#,
    r#""x":1e400,"w":0.1000000000000000055511151231257827,"v":1.0,"u":-0,"a":[]},"#,
    r#""content":[{"flavour":"sweet","text":"Known text.","type":"text","_meta":{"vendor/x":[1e400]},"#,
    r#""annotations":{"audience":["martian"],"priority":7,"mood":"good"}}],"#,
    r#""isError":false,"_meta":{"vendor/key":{"deep":[null,true]}},"apple":{"unknown":"field"}}"#,
);

#[tokio::test]
async fn rmcp_a_result_of_seventeen_megabytes_on_one_line_is_unknown_at_once() {
    let bytes = (17 << 20).to_string();
    let case = Case { fault: &["long-line", "--bytes", &bytes], timeout_seconds: 60, ..UNKNOWN };
    for record in case.over_stdio().await {
        assert!(message(&record).contains("more than 8388608 bytes"), "{record:?}");
    }
}

#[tokio::test]
async fn rmcp_an_error_that_is_null_beside_a_result_is_no_error() {
    Case { fault: &["error-null"], ..ANSWERED }.over_stdio().await;
    Case { fault: &["error-null"], ..ANSWERED }.over_http().await;
}

#[tokio::test]
async fn rmcp_one_bad_tool_does_not_hide_the_others() {
    let play = Stage::new().fixture(SERVER, &["flaky", "--fault", "bad-tool"], 5).ready().await;
    let server = play.server(SERVER);
    let names: Vec<&str> = server.offers.tools.iter().map(Tool::name).collect();
    assert!(names.contains(&"echo") && names.contains(&"ask"), "{names:?}");
    assert!(!server.offers.faults.is_empty(), "what was left out is told");
    assert_eq!(words(&play.write("beside").await), (OutcomeKind::Ok, None));
    play.stop().await;
}

#[tokio::test]
async fn rmcp_a_bare_introduction_is_enough() {
    let bare = ["flaky", "--fault", "bare-initialize"];
    let play = Stage::new().fixture(SERVER, &bare, 5).ready().await;
    assert_eq!(words(&play.write("bare").await), (OutcomeKind::Ok, None));
    play.stop().await;
}

#[tokio::test]
async fn rmcp_keys_of_other_results_do_not_change_what_a_result_is() {
    for record in (Case { fault: &["extra-keys"], ..ANSWERED }).over_stdio().await {
        assert_eq!(text(&record), "wrote struck");
        assert_eq!(result(&record)["messages"], json!([]), "and they are kept");
    }
}

#[tokio::test]
async fn rmcp_unknown_fields_and_large_numbers_pass_byte_for_byte() {
    let [over_stdio, over_http] = [
        Case { fault: &["unknown-fields"], ..ANSWERED }.over_stdio().await,
        Case { fault: &["unknown-fields"], ..ANSWERED }.over_http().await,
    ];
    for record in over_stdio.into_iter().chain(over_http) {
        assert_eq!(record.outcome.result.as_deref(), Some(ODD_RESULT.as_bytes()));
    }
}

#[tokio::test]
async fn rmcp_unknown_kinds_of_content_are_content() {
    for record in (Case { fault: &["odd-content"], ..ANSWERED }).over_stdio().await {
        let content = result(&record)["content"].clone();
        let kinds: Vec<&Value> =
            content.as_array().unwrap().iter().map(|item| &item["type"]).collect();
        assert_eq!(json!(kinds), json!(["hologram", "image", "text", "text", null]));
    }
}

#[tokio::test]
async fn rmcp_a_batch_is_an_answer_where_the_revision_has_batches() {
    let batch = ["flaky", "--fault", "batch-answer", "--era", "legacy", "--revision", "2025-03-26"];
    let play = Stage::new().fixture(SERVER, &batch, 5).ready().await;
    assert_eq!(play.server(SERVER).agreement.as_ref().unwrap().revision, Revision::V2025_03_26);
    let record = play.write("batch").await;
    assert_eq!((words(&record), play.effects("batch")), ((OutcomeKind::Ok, None), 1), "{record:?}");
    play.stop().await;
}
