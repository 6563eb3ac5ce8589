//! Tests of reasoning models: they get their signed thoughts back in the middle of a task.

use serde_json::{Value, json};
use switchboard_testkit::ModelVendor;

use crate::switchboard::fixture;
use crate::talking::{Form, Setup, Talk, events_by_kind, last_words};

/// Starts a conversation with a reasoning model; the profile requests thoughts if the vendor needs
/// that.
fn thinking(vendor: ModelVendor, turns: &[Value]) -> Talk {
    let extra = match vendor {
        ModelVendor::OpenAi => json!({}),
        ModelVendor::Anthropic => json!({"thinking": {"type": "enabled", "budget_tokens": 2_000}}),
        ModelVendor::Gemini => {
            json!({"generationConfig": {"thinkingConfig": {"includeThoughts": true}}})
        }
    };
    Setup::new((vendor, Form::Native))
        .servers(json!({"echo": fixture(&["echo"])}))
        .profile(json!({ "extra": extra }))
        .start(turns)
}

fn call(name: &str, arguments: &Value) -> Value {
    json!({"thinking": format!("I need {name}."), "calls": [{"name": name, "arguments": arguments}]})
}

#[test]
fn thoughts_stay_with_their_calls_through_a_task() {
    for vendor in ModelVendor::ALL {
        let talk = thinking(
            vendor,
            &[
                call("echo__add", &json!({"a": 1, "b": 2})),
                call("echo__fail", &json!({"message": "no luck"})),
                call("echo__add", &json!({"b": 3, "a": 4})),
                json!({"thinking": "Enough.", "text": "Seven."}),
            ],
        );
        let events = talk.task(&[], 0);
        assert_eq!(last_words(&events), "Seven.", "{vendor:?}");
        let thoughts = events_by_kind(&events, "thinking");
        let thoughts: String =
            thoughts.iter().map(|event| event["text"].as_str().unwrap()).collect();
        let expected = "I need echo__add.I need echo__fail.I need echo__add.Enough.";
        assert_eq!(thoughts, expected, "{vendor:?}");
        // Thoughts are shown only on request, and never on standard output.
        assert!(!talk.run(&["run", "again", "--allow", "*"], 0).stdout.contains("Enough"));
    }
}

#[test]
fn a_thought_that_led_to_a_mistake_is_given_back_too() {
    for vendor in ModelVendor::ALL {
        let mistakes =
            [("echo__ad", json!({})), ("echo__add", json!({"a": 1})), ("echo__add", json!([1, 2]))];
        // The arguments of Gemini's calls are always an object.
        let possible = if vendor == ModelVendor::Gemini { 2 } else { 3 };
        for (name, arguments) in mistakes.iter().take(possible) {
            let talk = thinking(vendor, &[call(name, arguments), json!({"text": "I was wrong."})]);
            let events = talk.task(&[], 0);
            assert_eq!(last_words(&events), "I was wrong.", "{vendor:?} {name} {arguments}");
        }
    }
}

#[test]
fn names_that_no_vendor_takes_are_told_and_the_task_goes_on() {
    for vendor in ModelVendor::ALL {
        for name in ["functions.echo__add", "echo/add", "", "füge hinzu", &"x".repeat(200)] {
            let talk = Setup::new((vendor, Form::Native))
                .servers(json!({"echo": fixture(&["echo"])}))
                .start(&[
                    json!({"text": "So.", "calls": [{"name": name, "arguments": {}}]}),
                    json!({"expect": ["Nothing was called"], "text": "I was wrong."}),
                ]);
            let events = talk.task(&[], 0);
            assert_eq!(last_words(&events), "I was wrong.", "{vendor:?} `{name}`");
        }
    }
}
