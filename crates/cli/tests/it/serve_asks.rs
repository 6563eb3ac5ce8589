//! Tests of requests and notifications that servers send during calls, across the eras.

use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use switchboard_testkit::HttpFixture;

use crate::gateway::{Gateway, Legacy, NEWEST_LEGACY};
use crate::http_client::Reply;
use crate::serve_client::until;
use crate::speakers::{LegacyHttp, ModernHttp, Pipe, Speaker};
use crate::switchboard::{Switchboard, fixture};

/// The asking tools, and their requests.
const ASKING: [(&str, &[&str]); 5] = [
    ("test_input_required_result_elicitation", &["elicitation/create"]),
    ("test_input_required_result_sampling", &["sampling/createMessage"]),
    ("test_input_required_result_list_roots", &["roots/list"]),
    ("test_input_required_result_multi_round", &["elicitation/create", "elicitation/create"]),
    (
        "test_input_required_result_multiple_inputs",
        &["elicitation/create", "roots/list", "sampling/createMessage"],
    ),
];

/// Returns an answer that fits every request.
fn reply() -> Value {
    json!({
        "action": "accept", "content": {"name": "Ada", "color": "blue", "type": "text", "text": "Hi"},
        "role": "assistant", "model": "m", "roots": [{"uri": "file:///home"}],
    })
}

fn check(client: &mut dyn Speaker) {
    for server in ["old", "new", "far-old", "far-new"] {
        for (tool, expected) in ASKING {
            let what = format!("{server}/{tool} to {}", client.name());
            let call = json!({"name": format!("{server}__{tool}"), "arguments": {}});
            let heard = client.say("tools/call", &call, &reply());
            let text = heard.answer()["result"]["content"][0]["text"].to_string();
            assert!(text.contains("state-ok"), "{what}: {heard:?}");
            let said = heard.before.iter().map(|message| message["method"].as_str().unwrap());
            let mut asked: Vec<&str> =
                said.filter(|method| !method.starts_with("notifications/")).collect();
            asked.sort_unstable();
            assert_eq!(asked, expected, "{what}");
        }
    }
}

#[test]
fn forms_models_and_roots_are_asked_for_across_eras_and_transports() {
    let far = ["legacy", "modern"]
        .map(|era| HttpFixture::start(&["conformance", "--transport", "http", "--era", era]));
    let switchboard = Switchboard::with(&json!({
        "old": fixture(&["conformance", "--era", "legacy"]),
        "new": fixture(&["conformance", "--era", "modern"]),
        "far-old": {"url": far[0].url},
        "far-new": {"url": far[1].url},
    }));
    let gateway = Gateway::start(&switchboard, &[]);
    check(&mut ModernHttp::new(&gateway));
    check(&mut LegacyHttp::new(&gateway, NEWEST_LEGACY));
    let mut pipe = Pipe::new(switchboard.start(&["serve", "--stdio", "--no-record"]));
    check(&mut pipe.modern());
    check(&mut pipe.legacy(NEWEST_LEGACY));
}

/// Repeats the change of the resource until the notification arrives.
fn touch_until_noticed(gateway: &Gateway, server: &str, stream: &mut Reply) -> Value {
    let heard = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            until(|| {
                let touch = json!({"uri": "test://static-text"});
                gateway.modern().call(&format!("{server}__touch"), &touch);
                heard.load(Ordering::Relaxed)
            });
        });
        let message = stream.next_until("notifications/resources/updated", || true);
        heard.store(true, Ordering::Relaxed);
        message
    })
}

#[test]
fn a_resource_that_changes_is_told_across_eras() {
    for era in ["legacy", "modern"] {
        let switchboard = Switchboard::with(&json!({"asker": fixture(&["asker", "--era", era])}));
        let gateway = Gateway::with_tool(&switchboard, &["--server", "asker"], "asker__touch");
        let uri = "test://static-text";
        let modern = gateway.modern();
        let wanted = json!({"notifications": {"resourceSubscriptions": [uri, "test://nowhere"]}});
        let mut listening = modern.send("subscriptions/listen", &wanted);
        let acknowledged = listening.next_message();
        let granted = &acknowledged["params"]["notifications"];
        assert_eq!(*granted, json!({"resourceSubscriptions": [uri]}), "{era}");
        let told = touch_until_noticed(&gateway, "asker", &mut listening);
        assert_eq!(told["params"]["uri"], uri, "{era}");
        let subscription = "io.modelcontextprotocol/subscriptionId";
        let id = |message: &Value| message["params"]["_meta"][subscription].clone();
        assert_eq!((id(&told), id(&told).is_null()), (id(&acknowledged), false), "{era}");

        let legacy = Legacy::open(&gateway.url, NEWEST_LEGACY, &json!({}));
        let mut stream = legacy.listen();
        let subscribed = legacy.ask("resources/subscribe", &json!({"uri": uri}));
        assert_eq!(subscribed["result"], json!({}), "{era}");
        let told = touch_until_noticed(&gateway, "asker", &mut stream);
        assert_eq!(told["params"], json!({"uri": uri}), "{era}");
        let left = legacy.ask("resources/unsubscribe", &json!({"uri": uri}));
        assert_eq!(left["result"], json!({}), "{era}");
    }
}

#[test]
fn a_client_that_answers_with_an_error_ends_what_cannot_go_on_without_it() {
    let switchboard = Switchboard::with(&json!({
        "old": fixture(&["conformance", "--era", "legacy"]),
        "new": fixture(&["conformance", "--era", "modern"]),
    }));
    let tool = "test_input_required_result_sampling";
    let gateway = Gateway::with_tool(&switchboard, &[], &format!("new__{tool}"));
    let abilities = json!({"elicitation": {}, "sampling": {}, "roots": {}});
    let legacy = Legacy::open(&gateway.url, NEWEST_LEGACY, &abilities);
    let call = |tool: &str| {
        let call = json!({"name": format!("new__{tool}"), "arguments": {}});
        let mut stream = legacy.send("tools/call", &call);
        loop {
            let message = stream.next_message();
            if message["method"].is_null() {
                return message;
            }
            let error = json!({"code": -1, "message": "the person said no"});
            let answer = json!({"jsonrpc": "2.0", "id": message["id"], "error": error});
            assert_eq!(legacy.post(&answer).status, 202);
        }
    };
    // The protocol has a reply for a person who does not answer, so the server decides the result.
    let form = call("test_input_required_result_elicitation");
    assert_eq!(form["result"]["_meta"]["switchboard/outcome"], Value::Null, "{form}");
    let answer = call(tool);
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    for part in ["`new`", "`sampling/createMessage`", "the person said no"] {
        assert!(text.contains(part), "no {part} in {answer}");
    }
    let last = format!("tool new/{tool}: failed (unanswered)");
    until(|| switchboard.recorded_calls().last() == Some(&last));
    let recorded = switchboard.recorded_calls();
    assert!(!recorded.iter().any(|row| row.contains("protocol_error")), "{recorded:?}");
}
