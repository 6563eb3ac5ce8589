//! Tests of a vendor that is busy, disconnects, sends nonsense or is unreachable, and of the task's
//! outcome.

use serde_json::{Value, json};
use switchboard_testkit::ModelVendor;

use crate::running::Ran;
use crate::switchboard::fixture;
use crate::talking::{Form, Setup, Talk, VendorCall, end, events, events_by_kind, last_words};

const TEXT: &str = "The whole answer, from the first word to the last.";

fn echo() -> Value {
    json!({"echo": fixture(&["echo"])})
}

fn setup(vendor: ModelVendor) -> Setup {
    Setup::new((vendor, Form::Native))
}

/// Starts a conversation with one faulty answer.
fn faulty(vendor: ModelVendor, fault: &Value) -> Talk {
    setup(vendor).start(&[json!({"text": TEXT, "chunk": 5, "fault": fault})])
}

fn in_session(talk: &Talk, text: &str) -> usize {
    let shown = talk.switchboard.run(&["sessions", "export", "last"]).expect(0).stdout;
    shown.matches(text).count()
}

#[test]
fn a_busy_vendor_is_asked_again_when_it_said() {
    for vendor in ModelVendor::ALL {
        let fault = json!({"kind": "status", "status": 429, "retryAfter": "1", "times": 1});
        assert_eq!(seconds_waited(vendor, &fault).to_string(), "1", "{vendor:?}");
    }
}

#[test]
fn a_vendor_that_fails_is_asked_again_after_a_moment() {
    for vendor in ModelVendor::ALL {
        let wait = seconds_waited(vendor, &json!({"kind": "status", "status": 500, "times": 1}));
        assert!((1.0..=1.25).contains(&wait), "{vendor:?}: {wait}");
    }
}

/// Returns the seconds between the first request and the second, which succeeds.
fn seconds_waited(vendor: ModelVendor, fault: &Value) -> f64 {
    let talk = faulty(vendor, fault);
    let events = events(&talk.run(&["run", "hi", "--json"], 0));
    assert_eq!(last_words(&events), TEXT, "{vendor:?}");
    assert_eq!(talk.bodies().len(), 2, "{vendor:?}");
    let waits = events_by_kind(&events, "waiting");
    assert_eq!(waits.len(), 1, "{vendor:?}: {waits:?}");
    waits[0]["seconds"].as_f64().unwrap()
}

#[test]
fn an_answer_that_breaks_off_is_asked_for_again_and_counts_once() {
    for vendor in ModelVendor::ALL {
        for kind in ["cut", "malformed", "error"] {
            let talk = faulty(vendor, &json!({"kind": kind, "after": 4, "times": 1}));
            let ran = talk.run(&["run", "hi", "--json"], 0);
            let events = events(&ran);
            assert_eq!(events_by_kind(&events, "again").len(), 1, "{vendor:?} {kind}: {ran:?}");
            assert_eq!(last_words(&events), TEXT, "{vendor:?} {kind}");
            assert_eq!(talk.bodies().len(), 2, "{vendor:?} {kind}");
            assert_eq!(in_session(&talk, "The whole"), 1, "{vendor:?} {kind}");
        }
    }
}

#[test]
fn a_call_is_made_once_although_its_answer_broke_off() {
    for vendor in ModelVendor::ALL {
        for form in [Form::Native, Form::Text] {
            let asked = VendorCall::Tool("echo", "add", json!({"a": 2, "b": 3}));
            let mut turn = form.turn("I add.", &[asked]);
            // The fault occurs after one piece of text and most of the call.
            let after = if form == Form::Native { 4 } else { 8 };
            turn["fault"] = json!({"kind": "cut", "after": after, "times": 1});
            let setup = Setup::new((vendor, form)).servers(echo());
            let talk = setup.start(&[turn, json!({"expect": ["5"], "text": "Five."})]);
            let events = talk.task(&[], 0);
            assert_eq!(last_words(&events), "Five.", "{vendor:?} {form:?}");
            assert_eq!(
                talk.switchboard.recorded_calls(),
                ["tool echo/add: ok"],
                "{vendor:?} {form:?}"
            );
        }
    }
}

/// Fails unless the task ends with this code, an empty standard output and these words on standard
/// error.
fn assert_failed(talk: &Talk, code: i32, parts: &[&str]) -> Ran {
    let ran = talk.run(&["run", "hi"], code);
    for part in parts {
        assert!(ran.stderr.contains(part), "no `{part}` in {ran:?}");
    }
    ran
}

#[test]
fn an_answer_that_is_always_nonsense_ends_the_task_with_a_reason() {
    for vendor in ModelVendor::ALL {
        let name = vendor.name();
        let broken = format!("error: the answer of `{name}` broke off");
        let unread = format!("error: the answer of `{name}` cannot be read: ");
        let page = format!("error: `{name}` answered with a web page");
        for (kind, parts, asked) in [
            ("cut", vec![broken.as_str()], 3),
            ("malformed", vec![unread.as_str()], 2),
            ("html", vec![page.as_str(), "hint: check `baseUrl`"], 1),
        ] {
            let talk = faulty(vendor, &json!({"kind": kind, "after": 1}));
            assert_failed(&talk, 6, &parts);
            assert_eq!(talk.bodies().len(), asked, "{vendor:?} {kind}");
            // The user's message is stored, and the request can be repeated.
            assert_eq!(in_session(&talk, "The model request failed"), 1, "{vendor:?} {kind}");
        }
    }
}

#[test]
fn how_an_answer_ends_decides_the_exit_code() {
    for vendor in ModelVendor::ALL {
        for (turn, word) in [
            (json!({"text": "And then", "stop": "length"}), "length"),
            (json!({"text": "I", "stop": "refused"}), "refused"),
            (json!({"text": ""}), "silent"),
        ] {
            let talk = setup(vendor).start(&[turn]);
            let events = events(&talk.run(&["run", "hi", "--json"], 6));
            assert_eq!(end(&events), word, "{vendor:?}");
        }
    }
}

#[test]
fn a_wrong_key_is_told_with_the_variable_it_came_from() {
    for vendor in ModelVendor::ALL {
        let talk = setup(vendor).profile(json!({"apiKeyEnv": "WRONG"})).start(&[]);
        let mut command = talk.command(&["run", "hi"]);
        command.env("WRONG", "sk-of-somebody-else");
        let ran = crate::running::RunningProcess::start(&mut command);
        let ran = ran.finish_within(crate::running::TEST_TIMEOUT).expect(3);
        let name = vendor.name();
        for part in [
            format!("error: `{name}` rejected the API key (HTTP status "),
            "hint: check the key in the environment variable `WRONG`".to_owned(),
        ] {
            assert!(ran.stderr.contains(&part), "no `{part}` in {ran:?}");
        }
        assert!(!ran.stderr.contains("somebody"), "{ran:?}");
        assert_eq!(talk.bodies().len(), 1, "{vendor:?}: a wrong key is not tried again");
    }
}

#[test]
fn a_model_that_is_not_there_is_told_with_what_there_is() {
    for vendor in ModelVendor::ALL {
        let talk = setup(vendor).profile(json!({"model": "missing"})).start(&[]);
        let name = vendor.name();
        assert_failed(&talk, 3, &[&format!("error: `{name}` has no model `missing`"), "hint: "]);
    }
}

#[test]
fn a_vendor_that_cannot_be_reached_is_told_with_what_to_check() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1", free.local_addr().unwrap());
    drop(free);
    for (provider, hint) in [
        ("openai", "hint: check the network and `baseUrl`"),
        ("anthropic", "hint: check the network and `baseUrl`"),
        ("gemini", "hint: check the network and `baseUrl`"),
        ("ollama", "hint: is Ollama running? `ollama serve` starts it"),
    ] {
        let profile = json!({"provider": provider, "baseUrl": address});
        let talk = setup(ModelVendor::OpenAi).profile(profile).start(&[]);
        assert_failed(&talk, 6, &[&format!("error: `{provider}` cannot be reached: "), hint]);
    }
}

/// Returns each vendor's error for a conversation that exceeds its context window.
fn too_long(vendor: ModelVendor) -> Value {
    let body = match vendor {
        ModelVendor::OpenAi => json!({"error": {
            "message": "This model's maximum context length is 8192 tokens.",
            "type": "invalid_request_error", "param": "messages",
            "code": "context_length_exceeded",
        }}),
        ModelVendor::Anthropic => json!({"type": "error", "error": {
            "type": "invalid_request_error",
            "message": "prompt is too long: 210000 tokens > 200000 maximum",
        }}),
        ModelVendor::Gemini => json!({"error": {
            "code": 400, "status": "INVALID_ARGUMENT",
            "message": "The input token count exceeds the maximum number of tokens allowed.",
        }}),
    };
    json!({"kind": "status", "status": 400, "body": body.to_string(), "times": 1})
}

#[test]
fn a_conversation_that_is_too_long_is_summed_up_and_asked_again() {
    for vendor in ModelVendor::ALL {
        let forms = if vendor == ModelVendor::Gemini {
            vec![Form::Native]
        } else {
            vec![Form::Native, Form::Text]
        };
        for form in forms {
            let usage = json!({"input": 10, "output": 5});
            let big = |bytes: u64| {
                let asked = VendorCall::Tool("echo", "big", json!({ "bytes": bytes }));
                let mut turn = form.turn(&format!("I fetch {bytes}."), &[asked]);
                turn["usage"] = usage.clone();
                turn
            };
            // The turns are in sequence, because a summary has a different history.
            let turns = [
                big(3_000),
                big(3_001),
                json!({"text": "SUM: two fetches were made.", "fault": too_long(vendor)}),
                json!({"expect": ["abc"], "text": "Here it is."}),
            ];
            let setup = Setup::new((vendor, form)).servers(echo());
            // The default window is the usual one of the vendor's models; this model has a smaller
            // one.
            let talk = setup.start_in(
                crate::switchboard::Switchboard::new(),
                &json!({"order": "sequence", "turns": turns}),
            );
            let events = talk.task(&[], 0);
            assert_eq!(last_words(&events), "Here it is.", "{vendor:?} {form:?}");
            let cut = events_by_kind(&events, "compacted");
            assert_eq!(cut.len(), 1, "{vendor:?} {form:?}");
            assert_eq!(cut[0]["summary"], "SUM: two fetches were made.");
            let last = talk.bodies().pop().unwrap().to_string();
            assert!(last.contains("The beginning of this conversation was replaced"), "{last}");
            assert!(last.contains("SUM: two fetches"), "{vendor:?} {form:?}: {last}");
            assert!(!last.contains("I fetch 3000."), "{vendor:?} {form:?}: {last}");
        }
    }
}

#[test]
fn a_first_message_that_is_too_long_ends_the_task_with_a_reason() {
    for vendor in ModelVendor::ALL {
        let talk = faulty(vendor, &too_long(vendor));
        let expected = "error: the conversation is too long for the model `m-1`";
        assert_failed(&talk, 6, &[expected]);
        assert_eq!(talk.bodies().len(), 1, "{vendor:?}");
    }
}

#[test]
fn where_no_summary_can_be_had_the_first_words_stand_for_the_beginning() {
    let form = Form::Native;
    let big = |bytes: u64| {
        let mut turn =
            form.turn("I fetch.", &[VendorCall::Tool("echo", "big", json!({ "bytes": bytes }))]);
        turn["usage"] = json!({"input": 10, "output": 5});
        turn
    };
    let mut fault = too_long(ModelVendor::OpenAi);
    // The request for the summary is too long as well.
    fault["times"] = json!(2);
    let turns = [big(3_000), big(3_001), json!({"text": "Here.", "fault": fault})];
    let talk =
        setup(ModelVendor::OpenAi).servers(echo()).profile(json!({"window": 4_000})).start_in(
            crate::switchboard::Switchboard::new(),
            &json!({"order": "sequence", "turns": turns}),
        );
    let events = talk.task(&[], 0);
    assert_eq!(last_words(&events), "Here.");
    let summary = events_by_kind(&events, "compacted")[0]["summary"].as_str().unwrap();
    assert!(summary.starts_with("- User: do it"), "{summary}");
}

#[test]
fn a_window_that_fills_up_is_emptied_before_the_vendor_complains() {
    for (vendor, form) in
        [(ModelVendor::Anthropic, Form::Native), (ModelVendor::Gemini, Form::Text)]
    {
        let big = |bytes: u64, input: u64| {
            let asked = VendorCall::Tool("echo", "big", json!({ "bytes": bytes }));
            let mut turn = form.turn("I fetch.", &[asked]);
            turn["usage"] = json!({"input": input, "output": 5});
            turn
        };
        let turns = [
            big(30_000, 10),
            big(3_001, 7_900),
            json!({"text": "SUM"}),
            json!({"expect": ["abc"], "text": "Here."}),
        ];
        let talk =
            Setup::new((vendor, form)).servers(echo()).profile(json!({"window": 10_000})).start_in(
                crate::switchboard::Switchboard::new(),
                &json!({"order": "sequence", "turns": turns}),
            );
        let events = talk.task(&[], 0);
        assert_eq!(last_words(&events), "Here.", "{vendor:?} {form:?}");
        assert_eq!(
            events_by_kind(&events, "compacted")[0]["summary"],
            "SUM",
            "{vendor:?} {form:?}"
        );
    }
}
