//! Tests of sampling requests: served with the person's consent, within limits, or not at all.

use serde_json::{Value, json};

#[cfg(target_os = "linux")]
use crate::running::TEST_TIMEOUT;
use crate::scripted::scripted_home;
use crate::switchboard::{Switchboard, fixture, result_text};
use crate::testenv;

const SAMPLE: [&str; 4] = ["call", "everything", "trigger-sampling-request", "prompt=Hi"];

/// Returns a home with the real server, with `sampling` in its entry, and a model that answers with
/// these turns.
fn everything(sampling: &Value, turns: &Value) -> Switchboard {
    let mut entry = testenv::everything();
    entry["sampling"] = sampling.clone();
    scripted_home(&json!({"mcpServers": {"everything": entry}}), turns)
}

#[test]
fn a_real_server_offers_sampling_only_where_it_is_on() {
    let turns = json!([{"text": "Hello."}]);
    let tool = "trigger-sampling-request".to_owned();
    assert!(!everything(&json!(false), &turns).tools("everything").contains(&tool));
    assert!(everything(&json!(true), &turns).tools("everything").contains(&tool));
    // Without a model, the capability is not offered.
    let mut entry = testenv::everything();
    entry["sampling"] = json!(true);
    let alone = Switchboard::with(&json!({"everything": entry}));
    assert!(!alone.tools("everything").contains(&tool));
}

#[cfg(target_os = "linux")]
#[test]
fn a_person_sees_what_a_real_server_wants_to_ask_the_model_and_agrees() {
    let turns = json!([{"expect": ["context: Hi"], "text": "Hello, server."}]);
    let switchboard = everything(&json!(true), &turns);
    for (answer, expected) in [
        ("y\r", "\"text\": \"Hello, server.\""),
        ("n\r", "User rejected sampling request: declined"),
    ] {
        let mut terminal = switchboard.in_terminal(&SAMPLE);
        terminal.wait_for("Ask the model?");
        terminal.say(answer);
        let ran = terminal.finish_within(TEST_TIMEOUT);
        for shown in [
            "Server everything wants to ask the model main",
            "  | You are a helpful test server.",
            "  | Resource trigger-sampling-request context: Hi",
            expected,
        ] {
            assert!(ran.stdout.contains(shown), "no `{shown}` in {ran:?}");
        }
    }
}

#[test]
fn without_a_person_a_real_server_gets_an_answer_only_if_the_entry_wants_no_review() {
    let turns = json!([{"text": "Hello, server."}]);
    let reviewed = everything(&json!(true), &turns);
    let ran = reviewed.run(&SAMPLE).expect(1);
    assert!(ran.stdout.contains("User rejected sampling request: declined"), "{ran:?}");
    assert!(ran.stderr.contains("a question of server `everything` was declined"), "{ran:?}");
    let free = everything(&json!({"review": false}), &turns);
    let ran = free.run(&SAMPLE).expect(0);
    let (_, raw) = ran.stdout.split_once("LLM sampling result:").unwrap();
    let raw: Value = serde_json::from_str(raw.trim()).unwrap();
    assert_eq!(
        raw,
        json!({"role": "assistant", "content": {"type": "text", "text": "Hello, server."},
            "model": "main", "stopReason": "endTurn"})
    );
}

/// Returns a home with the asker fixture and without review.
fn asker(era: &str) -> Switchboard {
    let mut entry = fixture(&["asker", "--era", era]);
    entry["sampling"] = json!({"review": false});
    scripted_home(&json!({"mcpServers": {"asker": entry}}), &json!([{"text": "Yes."}]))
}

fn sample(switchboard: &Switchboard, request: &Value, times: usize, code: i32) -> Value {
    let arguments = json!({"request": request, "times": times}).to_string();
    switchboard.call(&["asker", "sample", "--json-args", &arguments], code)
}

fn question(more: &Value) -> Value {
    let mut question = json!({
        "messages": [{"role": "user", "content": {"type": "text", "text": "Well?"}}],
        "maxTokens": 1_000_000,
    });
    for (name, value) in more.as_object().unwrap() {
        question[name] = value.clone();
    }
    question
}

#[test]
fn a_server_of_either_era_is_answered_by_the_model() {
    for era in ["legacy", "modern"] {
        let switchboard = asker(era);
        let called = sample(&switchboard, &question(&json!({})), 2, 0);
        let replies: Value = serde_json::from_str(result_text(&called)).unwrap();
        let reply = json!({"role": "assistant", "content": {"type": "text", "text": "Yes."},
            "model": "main", "stopReason": "endTurn"});
        assert_eq!(replies, json!([reply, reply]), "{era}");
    }
}

#[test]
fn el_04_context_of_all_servers_is_denied_in_both_eras() {
    let nosy = question(&json!({"includeContext": "allServers"}));
    let why = "User rejected sampling request: it requests the context of all servers, which is \
               not allowed";
    let called = sample(&asker("legacy"), &nosy, 1, 0);
    let replies: Value = serde_json::from_str(result_text(&called)).unwrap();
    assert_eq!(replies, json!([{"code": -1, "message": why}]));
    let called = sample(&asker("modern"), &nosy, 1, 6);
    let message = called["message"].as_str().unwrap_or_default();
    assert!(message.contains(why), "{called}");
}

#[test]
fn el_05_a_hundred_requests_in_one_call_get_ten_answers() {
    let called = sample(&asker("legacy"), &question(&json!({})), 100, 0);
    let replies: Vec<Value> = serde_json::from_str(result_text(&called)).unwrap();
    let answered = replies.iter().filter(|reply| reply["role"] == "assistant").count();
    assert_eq!((answered, replies.len()), (10, 100));
    let why = "User rejected sampling request: rate limit: 10 sampling requests per call";
    assert_eq!(replies[99], json!({"code": -1, "message": why}));
    // Endless rounds are a failed call.
    let called = sample(&asker("modern"), &question(&json!({})), 100, 6);
    let message = called["message"].as_str().unwrap_or_default();
    let expected =
        ["asked for input more than 10 times", "rate limit: 10 sampling requests per call"];
    assert!(expected.iter().any(|part| message.contains(part)), "{called}");
}
