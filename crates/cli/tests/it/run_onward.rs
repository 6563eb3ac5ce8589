//! Tests of continuing a conversation with another task, whatever the outcome of the previous one.

use std::time::Duration;

use serde_json::{Value, json};
use switchboard_testkit::{ModelFixture, ModelVendor};

use crate::running::{RunningProcess, TEST_TIMEOUT, wait_for_text};
use crate::switchboard::{Switchboard, fixture};
use crate::talking::{Form, KEY, KEY_VARIABLE, Setup, Talk, VendorCall, WAYS, events, last_words};

const SOON: Duration = Duration::from_secs(8);

fn echo() -> Value {
    json!({"echo": fixture(&["echo"])})
}

/// Resumes the last conversation; the fixture checks the vendor's rules.
fn go_on(talk: &Talk, expected: &str, case: &str) {
    let ran = talk.run(&["run", "and now?", "--resume", "last", "--json"], 0);
    assert_eq!(last_words(&events(&ran)), expected, "{case}");
}

/// Ends a first task in every way except success, and resumes the conversation.
fn goes_on((vendor, form): (ModelVendor, Form)) {
    let wrong = form.turn("So?", &[VendorCall::Tool("echo", "add", json!({"a": 1}))]);
    let fine = form.turn("So.", &[VendorCall::Tool("echo", "add", json!({"a": 1, "b": 2}))]);
    let length = json!({"text": "And then", "stop": "length"});
    let fault = json!({"kind": "html", "times": 1});
    for (name, first, code, words, chat) in [
        ("silent", json!({"text": ""}), 6, &[][..], json!({})),
        ("length", length, 6, &[], json!({})),
        ("failed", json!({"text": "Here again.", "fault": fault}), 6, &[], json!({})),
        ("mistakes", wrong, 8, &[], json!({"mistakeLimit": 1})),
        ("steps", fine, 8, &["--max-steps", "1"], json!({})),
    ] {
        let here = json!({"expect": ["and now?"], "text": "Here again."});
        // An empty answer does not count as an answer of the model.
        let order = if name == "silent" { "sequence" } else { "history" };
        let script = json!({"order": order, "turns": [first, here]});
        let setup = Setup::new((vendor, form)).servers(echo()).chat(&chat);
        let talk = setup.start_in(Switchboard::new(), &script);
        talk.run(&[&["run", "first"], words].concat(), code);
        go_on(&talk, "Here again.", &format!("{vendor:?} {form:?} {name}"));
    }
}

#[test]
fn after_a_task_that_failed_openai_answers_the_next_one() {
    goes_on((ModelVendor::OpenAi, Form::Native));
}

#[test]
fn after_a_task_that_failed_anthropic_answers_the_next_one() {
    goes_on((ModelVendor::Anthropic, Form::Native));
}

#[test]
fn after_a_task_that_failed_gemini_answers_the_next_one() {
    goes_on((ModelVendor::Gemini, Form::Native));
}

#[test]
fn after_a_task_that_failed_a_model_that_calls_in_text_answers_the_next_one() {
    goes_on((ModelVendor::Anthropic, Form::Text));
}

#[test]
fn after_an_interrupt_the_next_task_is_answered() {
    for (vendor, form) in WAYS {
        let switchboard = Switchboard::new();
        let trace = switchboard.text_path("trace");
        let servers = json!({"echo": fixture(&["echo", "--trace", &trace])});
        let slow = VendorCall::Tool("echo", "slow", json!({"ms": 60_000}));
        let turns = [
            form.turn("I wait.", &[slow, VendorCall::Tool("echo", "pid", json!({}))]),
            json!({"expect": ["and now?"], "text": "one two three ".repeat(300), "delayMs": 20}),
            json!({"expect": ["and now?"], "text": "Still here."}),
        ];
        let setup = Setup::new((vendor, form)).servers(servers);
        let talk = setup.start_in(switchboard, &json!({ "turns": turns }));
        let running = talk.start(&["run", "first", "--allow", "*"]);
        wait_for_text(trace.as_ref(), "tools/call");
        running.interrupt();
        running.finish_within(SOON).expect(130);
        let running = talk.start(&["run", "and now?", "--resume", "last"]);
        running.wait_for("one two three");
        running.interrupt();
        running.finish_within(SOON).expect(130);
        go_on(&talk, "Still here.", &format!("{vendor:?} {form:?}"));
    }
}

#[test]
fn an_interrupt_ends_the_events_too() {
    let text = "one two three ".repeat(300);
    let talk = Setup::new(WAYS[0]).start(&[json!({"text": text, "delayMs": 20})]);
    let running = talk.start(&["run", "count", "--json"]);
    running.wait_for("\"text\"");
    running.interrupt();
    let events = events(&running.finish_within(SOON).expect(130));
    assert_eq!(crate::talking::end(&events), "cancelled");
}

#[test]
fn a_conversation_can_go_on_with_another_vendor_and_form() {
    let ways = [
        (ModelVendor::OpenAi, "native"),
        (ModelVendor::Anthropic, "native"),
        (ModelVendor::Gemini, "text"),
        (ModelVendor::Gemini, "native"),
        (ModelVendor::Anthropic, "tags"),
        (ModelVendor::OpenAi, "native"),
    ];
    let switchboard = Switchboard::new();
    let mut models = json!({});
    let mut running = Vec::new();
    for (place, (vendor, calls)) in ways.into_iter().enumerate() {
        // Each model's two answers so far come first.
        let number = json!({"a": place, "b": 100});
        let call = if calls == "native" {
            json!({
                "thinking": "Hm.", "text": "I add.",
                "calls": [{"name": "echo__add", "arguments": number}],
            })
        } else {
            let asked = VendorCall::Tool("echo", "add", number);
            (if calls == "text" { Form::Text } else { Form::Tags }).turn("I add.", &[asked])
        };
        let sum = (100 + place).to_string();
        let mut turns = vec![json!({"text": "Never."}); place * 2];
        turns.extend([call, json!({"expect": [sum], "text": format!("It is {sum}.")})]);
        let model = ModelFixture::start_with_key(vendor, KEY, &json!({ "turns": turns }));
        models[format!("m{place}")] = json!({
            "provider": vendor.name(), "model": "m-1", "baseUrl": model.base_url(),
            "apiKeyEnv": KEY_VARIABLE, "calls": calls,
        });
        running.push(model);
    }
    let config = json!({"mcpServers": echo(), "models": models});
    switchboard.write_config(&config.to_string());
    for place in 0..ways.len() {
        let model = format!("m{place}");
        let words = ["run", "more", "--allow", "*", "--json", "--model", &model];
        let resume: &[&str] = if place == 0 { &[] } else { &["--resume", "last"] };
        let mut command = switchboard.command(&[&words[..], resume].concat());
        let ran = RunningProcess::start(command.env(KEY_VARIABLE, KEY)).finish_within(TEST_TIMEOUT);
        let sum = 100 + place;
        assert_eq!(last_words(&events(&ran.expect(0))), format!("It is {sum}."), "{model}");
    }
    assert_eq!(switchboard.recorded_calls(), vec!["tool echo/add: ok"; ways.len()]);
}
