//! Results nested deeper than any parser allows pass untouched or are refused.

use serde_json::json;

use crate::gateway::{Gateway, NEWEST_LEGACY};
use crate::switchboard::{Switchboard, fixture};

const LEVELS: usize = 10_000;

fn nested_json() -> String {
    format!("{}0{}", "[".repeat(LEVELS), "]".repeat(LEVELS))
}

/// Returns a result with a text and a very deeply nested value.
fn deep() -> String {
    let content = r#""content":[{"type":"text","text":"from the deep"}]"#;
    format!(r#"{{{content},"structuredContent":{{"a":{}}}}}"#, nested_json())
}

#[test]
fn a_result_of_ten_thousand_levels_is_shown_and_recorded_to_the_byte() {
    let switchboard = Switchboard::with(&json!({"srv": fixture(&["conformance"])}));
    let arguments = json!({"result": deep()}).to_string();
    let words = ["call", "srv", "raw", "--json-args", &arguments];
    let shown = switchboard.run(&words).expect(0);
    assert!(shown.stdout.starts_with("from the deep\n"), "{}", shown.stderr);
    let as_json = switchboard.run(&[&words[..], &["--json"]].concat()).expect(0);
    assert!(as_json.stdout.contains(&format!(r#""result":{}"#, deep())), "{}", as_json.stderr);
    assert_eq!(switchboard.recorded_calls(), ["tool srv/raw: ok", "tool srv/raw: ok"]);
    let calls = switchboard.json(&["calls"]);
    let id = calls[0]["id"].as_str().unwrap();
    assert!(switchboard.run(&["calls", "show", id]).expect(0).stdout.contains("from the deep"));
    let kept = switchboard.run(&["calls", "show", id, "--json"]).expect(0);
    assert!(kept.stdout.contains(&nested_json()), "the record has it whole");
}

#[test]
fn a_result_of_ten_thousand_levels_passes_the_gateway_and_arguments_of_that_depth_are_refused() {
    let switchboard = Switchboard::with(&json!({"srv": fixture(&["conformance"])}));
    let gateway = Gateway::with_tool(&switchboard, &[], "srv__raw");
    let legacy = gateway.legacy(NEWEST_LEGACY);
    let modern = gateway.modern();
    let call = json!({"name": "srv__raw", "arguments": {"result": deep()}});
    for text in [legacy.send("tools/call", &call), modern.send("tools/call", &call)] {
        let text = text.texts().pop().unwrap();
        assert!(text.contains(&nested_json()), "{} bytes", text.len());
    }
    let arguments = format!(r#"{{"result":"","more":{}}}"#, nested_json());
    let words = ["call", "srv", "raw", "--json-args", &arguments];
    let refused = switchboard.run(&words).expect(2);
    assert!(refused.stderr.contains("error: "), "{refused:?}");
    let recorded = switchboard.recorded_calls();
    assert_eq!(recorded.last().unwrap(), "tool srv/raw: not_sent (bad_arguments)");
    assert_eq!(gateway.legacy(NEWEST_LEGACY).send("ping", &json!({})).texts().len(), 1);
}
