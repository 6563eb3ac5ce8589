//! Tests of `switchboard run`: one task from the prompt to the last word, with every vendor and
//! form.

use serde_json::{Value, json};
use switchboard_testkit::ModelVendor;

use crate::running::{RunningProcess, TEST_TIMEOUT};
use crate::switchboard::{Switchboard, fixture};
use crate::talking::{
    FORMS, Form, KEY, KEY_VARIABLE, Setup, Talk, VendorCall, WAYS, end, events, events_by_kind,
    last_words,
};
use crate::testenv;
use crate::transcript::{redacted, transcript};

fn echo() -> Value {
    json!({"echo": fixture(&["echo"])})
}

/// Returns the arguments of every recorded call, oldest first.
fn arguments(switchboard: &Switchboard) -> Vec<Value> {
    let calls = switchboard.json(&["calls", "--limit", "100"]);
    let ids = calls.as_array().unwrap().iter().rev().map(|call| call["id"].as_str().unwrap());
    ids.map(|id| switchboard.json(&["calls", "show", id])["arguments"].take()).collect()
}

#[test]
fn a_task_has_the_same_outcome_with_every_vendor_in_every_form() {
    for vendor in ModelVendor::ALL {
        for form in FORMS {
            let case = format!("{vendor:?} {form:?}");
            let sum = json!({"a": 2, "b": 40});
            let words = json!({"text": "grüß dich & <42>"});
            let mut second =
                form.turn("Now I say it.", &[VendorCall::Tool("echo", "echo", words.clone())]);
            second["expect"] = json!(["42"]);
            let talk = Setup::new((vendor, form)).servers(echo()).start(&[
                form.turn("First I add.", &[VendorCall::Tool("echo", "add", sum.clone())]),
                second,
                json!({"expect": ["grüß dich & <42>"], "text": "It is *42*.\n\nThat is all."}),
            ]);
            let ran = talk.run(&["run", "add", "2 and 40", "--allow", "echo"], 0);
            assert!(ran.stdout.ends_with("\nIt is *42*.\n\nThat is all.\n"), "{case}: {ran:?}");
            assert!(ran.stdout.starts_with("First I add."), "{case}: {ran:?}");
            assert!(!ran.stdout.contains("use_mcp_tool"), "{case}: {ran:?}");
            assert!(!ran.stdout.contains("echo__"), "{case}: {ran:?}");
            insta::allow_duplicates!(insta::assert_snapshot!(redacted(&ran.stderr), @r#"
            → echo/add {"a":2,"b":40}
            ✓ echo/add ([duration], 10 bytes, call 1)
              │ {"sum":42}
            → echo/echo {"text":"grüß dich & <42>"}
            ✓ echo/echo ([duration], 18 bytes, call 2)
              │ grüß dich & <42>
            session [session]
            "#));
            let switchboard = &talk.switchboard;
            assert_eq!(
                switchboard.recorded_calls(),
                ["tool echo/add: ok", "tool echo/echo: ok"],
                "{case}"
            );
            assert_eq!(arguments(switchboard), [sum, words], "{case}");
            assert_eq!(talk.newest_messages()[0], ["add 2 and 40"], "{case}");
        }
    }
}

#[test]
fn real_servers_do_what_a_model_asks_for_in_every_form() {
    let ways = [
        (ModelVendor::Gemini, Form::Native),
        (ModelVendor::Anthropic, Form::Text),
        (ModelVendor::OpenAi, Form::Tags),
    ];
    for (vendor, form) in ways {
        let switchboard = Switchboard::new();
        let note = switchboard.write("files/note.txt", "Feed the cat at seven.\n");
        let folder = note.parent().unwrap();
        let text = "Feed the cat at eight.\n";
        let path = folder.join("copy.txt").to_str().unwrap().to_owned();
        let turns = [
            form.turn(
                "I add.",
                &[VendorCall::Tool("everything", "get-sum", json!({"a": 3, "b": 4}))],
            ),
            form.turn(
                "I read.",
                &[VendorCall::Tool("files", "read_text_file", json!({"path": note}))],
            ),
            form.turn(
                "I write.",
                &[VendorCall::Tool("files", "write_file", json!({"path": path, "content": text}))],
            ),
            json!({"expect": ["Successfully wrote"], "text": "The copy says eight."}),
        ];
        let servers =
            json!({"everything": testenv::everything(), "files": testenv::filesystem(folder)});
        let script = json!({ "turns": turns });
        let talk = Setup::new((vendor, form)).servers(servers).start_in(switchboard, &script);
        let events = talk.task(&[], 0);
        assert_eq!(last_words(&events), "The copy says eight.", "{form:?}");
        let told = talk.newest_messages();
        assert!(told[1][0].contains("The sum of 3 and 4 is 7."), "{form:?}: {told:?}");
        assert!(told[2][0].contains("Feed the cat at seven."), "{form:?}: {told:?}");
        let written = std::fs::read_to_string(&path).unwrap();
        // White space around the value of an element is formatting.
        assert_eq!(written.trim_end(), text.trim_end(), "{form:?}");
        assert_eq!(
            talk.switchboard.recorded_calls(),
            [
                "tool everything/get-sum: ok",
                "tool files/read_text_file: ok",
                "tool files/write_file: ok",
            ],
            "{form:?}"
        );
    }
}

#[test]
fn with_json_every_line_is_an_event_and_every_call_has_its_end() {
    for (vendor, form) in WAYS {
        let calls = [
            VendorCall::Tool("echo", "add", json!({"a": 1, "b": 1})),
            VendorCall::Tool("echo", "fail", json!({"message": "no luck"})),
        ];
        let mut first = form.turn("Both.", &calls);
        first["usage"] = json!({"input": 100, "output": 7});
        let last = json!({"text": "Done.", "usage": {"input": 200, "output": 3}});
        let talk = Setup::new((vendor, form)).servers(echo()).start(&[first, last]);
        let ran = talk.run(&["run", "go", "--allow", "echo", "--json"], 0);
        assert_eq!(ran.stderr, "", "{vendor:?} {form:?}");
        let events = events(&ran);
        let kinds: Vec<&str> =
            events.iter().map(|event| event["event"].as_str().unwrap()).collect();
        let mut outline: Vec<&str> = kinds.clone();
        outline.retain(|kind| !["writing", "notice"].contains(kind));
        outline.dedup();
        assert_eq!(
            outline,
            [
                "session", "asking", "text", "answered", "call", "ended", "call", "ended",
                "asking", "text", "answered", "turn_ended",
            ],
            "{vendor:?} {form:?}"
        );
        assert_eq!(events[0]["model"], "fast");
        assert_eq!(end(&events), "done");
        let begun = events_by_kind(&events, "call");
        let ended = events_by_kind(&events, "ended");
        let slots =
            |events: &[&Value]| events.iter().map(|it| it["slot"].as_u64().unwrap()).collect();
        let slots: [Vec<u64>; 2] = [slots(&begun), slots(&ended)];
        assert_eq!(slots, [vec![0, 1], vec![0, 1]]);
        let outcomes: Vec<&Value> = ended.iter().map(|event| &event["outcome"]).collect();
        assert_eq!(outcomes, ["ok", "tool_error"], "{vendor:?} {form:?}");
        let last = events.last().unwrap();
        assert_eq!(last["usage"], json!({"input": 300, "output": 10, "cached": 0}), "{vendor:?}");
        // The call has the same id in the record as in the event.
        let id = ended[1]["call"].as_str().unwrap();
        assert_eq!(talk.switchboard.json(&["calls", "show", id])["target"], "fail");
    }
}

#[test]
fn the_prompt_can_come_from_standard_input() {
    let talk = Setup::new(WAYS[0]).start(&[json!({"text": "Read."})]);
    for (input, code) in [("one\ntwo\n", 0), (" \n", 2)] {
        let mut running = RunningProcess::start(&mut talk.command(&["run", "-"]));
        running.say(input);
        running.close_input();
        running.finish_within(TEST_TIMEOUT).expect(code);
    }
    assert_eq!(talk.newest_messages(), [["one\ntwo\n"]], "an empty prompt is not asked");
    let usage = talk.run(&["run"], 2);
    insta::assert_snapshot!(transcript(&usage), @"
    exit status 2
    --- stderr
    error: the following required arguments were not provided:
      <PROMPT>...

    Usage: switchboard run <PROMPT>...

    For more information, try '--help'.
    ");
}

#[test]
fn a_model_without_mcp_is_offered_no_tools() {
    for (vendor, form) in WAYS {
        let setup = Setup::new((vendor, form)).servers(echo()).chat(&json!({"mcp": "off"}));
        let talk = setup.start(&[json!({"text": "I have no hands."})]);
        let events = talk.task(&[], 0);
        assert_eq!(last_words(&events), "I have no hands.");
        let body = &talk.bodies()[0];
        assert_eq!(body["tools"], Value::Null, "{vendor:?} {form:?}");
        for word in ["echo", "use_mcp_tool", "access_mcp_resource", "read_result"] {
            assert!(!talk.system(body).contains(word), "{vendor:?} {form:?}: `{word}`");
        }
    }
}

#[test]
fn a_model_is_asked_at_most_as_often_as_was_said() {
    for (words, chat) in [(&["--max-steps", "2"][..], json!({})), (&[], json!({"maxSteps": 2}))] {
        let form = Form::Native;
        let number = |a: u64| {
            form.turn("More.", &[VendorCall::Tool("echo", "add", json!({"a": a, "b": 1}))])
        };
        let setup = Setup::new(WAYS[0]).servers(echo()).chat(&chat);
        let talk = setup.start(&[number(1), number(2), number(3)]);
        let events = talk.task(words, 8);
        let last = events.last().unwrap();
        assert_eq!([&last["end"], &last["limit"]], ["stopped", "steps"], "{last}");
        assert_eq!(last["count"], 2);
        assert_eq!(talk.bodies().len(), 2);
        assert_eq!(talk.switchboard.recorded_calls(), ["tool echo/add: ok"; 2]);
    }
}

#[test]
fn a_key_goes_to_its_vendor_and_nowhere_else() {
    for (vendor, header, value) in [
        (ModelVendor::OpenAi, "authorization", format!("Bearer {KEY}")),
        (ModelVendor::Anthropic, "x-api-key", KEY.to_owned()),
        (ModelVendor::Gemini, "x-goog-api-key", KEY.to_owned()),
    ] {
        // Some vendors repeat the key in their error messages.
        let body = format!("{{\"error\": {{\"message\": \"no such thing for {KEY}\"}}}}");
        let fault = json!({"kind": "status", "status": 400, "body": body});
        let form = Form::Native;
        let talk = Setup::new((vendor, form)).servers(echo()).start(&[
            form.turn("Look.", &[VendorCall::Tool("echo", "environment", json!({}))]),
            json!({"text": "Never.", "fault": fault}),
        ]);
        let ran = talk.run(&["run", "go", "--allow", "echo"], 6);
        assert!(ran.stderr.contains("no such thing for ***"), "{ran:?}");
        let requests = talk.model.requests();
        assert_eq!(requests[0]["headers"][header], value, "{vendor:?}");
        let switchboard = &talk.switchboard;
        let exported = switchboard.run(&["sessions", "export", "last", "--form", "json"]).expect(0);
        let shown = switchboard.run(&["sessions", "show", "last"]).expect(0);
        let ours = std::iter::once(&ran).chain([&exported, &shown]);
        for text in ours.flat_map(|ran| [&ran.stdout, &ran.stderr]) {
            assert!(!text.contains(KEY), "{vendor:?}: {text}");
        }
        for request in requests {
            let outside = [&request["path"], &request["query"], &request["body"]];
            for part in outside.iter().map(ToString::to_string) {
                assert!(!part.contains(KEY), "{vendor:?}: {part}");
            }
        }
    }
}

#[test]
fn without_its_key_a_model_is_not_asked() {
    let talk: Talk = Setup::new(WAYS[1]).start(&[json!({"text": "Never."})]);
    let mut command = talk.switchboard.command(&["run", "hi"]);
    let ran = RunningProcess::start(command.env_remove(KEY_VARIABLE))
        .finish_within(TEST_TIMEOUT)
        .expect(3);
    let expected = "error: no API key for the model `fast`\n\
                    hint: set the environment variable `TALKING_TEST_KEY`\n";
    assert_eq!([ran.stdout.as_str(), ran.stderr.as_str()], ["", expected]);
    assert_eq!(talk.model.requests(), Vec::<Value>::new());
}

#[test]
fn what_a_profile_and_the_settings_add_reaches_the_vendor() {
    for (vendor, form) in WAYS {
        let extra = match vendor {
            ModelVendor::Gemini => json!({"generationConfig": {"temperature": 0.5}}),
            ModelVendor::OpenAi | ModelVendor::Anthropic => json!({"temperature": 0.5}),
        };
        let talk = Setup::new((vendor, form))
            .servers(echo())
            .chat(&json!({"instructions": "Always answer in verse."}))
            .profile(json!({"extra": extra, "headers": {"X-Team": "blue"}}))
            .start(&[json!({"text": "Roses are red."})]);
        talk.task(&[], 0);
        let request = &talk.model.requests()[0];
        assert_eq!(request["headers"]["x-team"], "blue", "{vendor:?}");
        for (key, value) in extra.as_object().unwrap() {
            assert_eq!(&request["body"][key], value, "{vendor:?}");
        }
        let system = talk.system(&request["body"]);
        assert!(system.contains("Always answer in verse."), "{vendor:?} {form:?}: {system}");
        assert_eq!(
            form == Form::Native,
            !request["body"]["tools"].is_null(),
            "{vendor:?} {form:?}"
        );
        assert_eq!(form != Form::Native, system.contains("<use_mcp_tool>"), "{vendor:?} {form:?}");
    }
}

#[test]
fn words_of_a_model_cannot_move_the_terminal() {
    let text = "\u{1b}[2J\u{1b}]0;owned\u{7}red\u{202e}der\r\n";
    let talk = Setup::new(WAYS[0]).start(&[json!({ "text": text })]);
    let ran = talk.run(&["run", "hi"], 0);
    for bad in ['\u{1b}', '\u{7}', '\u{202e}', '\r'] {
        assert!(!ran.stdout.contains(bad), "{bad:?} in {ran:?}");
    }
    insta::assert_snapshot!(transcript(&ran), @r"
    exit status 0
    --- stdout
    \e[2J\e]0;owned\x07red<U+202E>der\r
    --- stderr
    session [session]
    ");
}

#[test]
fn without_a_record_nothing_is_kept() {
    let form = Form::Native;
    let turn = form.turn("I add.", &[VendorCall::Tool("echo", "add", json!({"a": 1, "b": 1}))]);
    let talk = Setup::new(WAYS[0]).servers(echo()).start(&[turn, json!({"text": "Two."})]);
    let ran = talk.run(&["run", "go", "--allow", "*", "--no-record"], 0);
    assert!(ran.stdout.ends_with("Two.\n") && !ran.stderr.contains("session "), "{ran:?}");
    assert_eq!(talk.switchboard.json(&["sessions"]), json!([]));
}

#[test]
fn a_server_that_does_not_start_does_not_keep_a_task_from_running() {
    let servers = json!({"echo": fixture(&["echo"]), "broken": {"command": "/nowhere/at-all"}});
    let form = Form::Text;
    let talk = Setup::new(WAYS[3]).servers(servers).start(&[
        form.turn("I try.", &[VendorCall::Tool("broken", "any", json!({}))]),
        form.turn("I add.", &[VendorCall::Tool("echo", "add", json!({"a": 1, "b": 1}))]),
        json!({"expect": ["2"], "text": "Two."}),
    ]);
    let ran = talk.run(&["run", "go", "--allow", "*"], 0);
    assert!(ran.stdout.ends_with("Two.\n"), "{ran:?}");
    assert!(ran.stderr.contains("broken"), "{ran:?}");
    assert!(
        talk.newest_messages()[1][0].contains("Nothing was called: "),
        "{:?}",
        talk.newest_messages()
    );
}
