//! Tests of consent to the calls of a task: rules, an allow list, or an absent person.

use serde_json::{Value, json};

use crate::switchboard::{Switchboard, fixture};
use crate::talking::{Form, Setup, Talk, VendorCall, WAYS, events, events_by_kind, last_words};

fn write(form: Form) -> Value {
    form.turn("I write.", &[VendorCall::Tool("echo", "write", json!({"key": "a"}))])
}

/// Returns the fixture's journal, or an empty text if there is none.
fn journal(talk: &Talk) -> String {
    std::fs::read_to_string(talk.switchboard.path("journal")).unwrap_or_default()
}

fn talk(way: (switchboard_testkit::ModelVendor, Form), listed: &Value, settings: Value) -> Talk {
    let switchboard = Switchboard::new();
    let mut entry = fixture(&["echo", "--journal", &switchboard.text_path("journal")]);
    entry["autoApprove"] = listed.clone();
    let setup = Setup::new(way).servers(json!({ "echo": entry })).settings(settings);
    let turns = [write(way.1), json!({"text": "I was told."})];
    setup.start_in(switchboard, &json!({ "turns": turns }))
}

#[test]
fn without_a_person_a_call_that_needs_one_is_refused_and_the_model_is_told() {
    for way in WAYS {
        let talk = talk(way, &json!([]), json!({}));
        let ran = talk.run(&["run", "go", "--json"], 5);
        let events = events(&ran);
        assert_eq!(last_words(&events), "I was told.", "{way:?}");
        assert_eq!(events_by_kind(&events, "ended")[0]["outcome"], "denied", "{way:?}");
        let told = talk.told_last();
        assert!(told.contains("Not run, because it is not allowed: "), "{way:?}: {told}");
        assert!(told.contains("needs approval, but there is no terminal"), "{way:?}: {told}");
        assert_eq!(journal(&talk), "", "{way:?}: the tool ran");
        assert_eq!(talk.switchboard.recorded_calls(), ["tool echo/write: denied (unanswered)"]);
    }
}

#[test]
fn a_pattern_allows_what_it_covers() {
    for (patterns, code) in [
        (&["--allow", "echo/write"][..], 0),
        (&["--allow", "echo"], 0),
        (&["--allow", "*/wr*"], 0),
        (&["--allow", "other", "--allow", "echo/w*"], 0),
        (&["--allow", "echo/echo"], 5),
        (&["--allow", "ech"], 5),
    ] {
        let talk = talk(WAYS[0], &json!([]), json!({}));
        talk.run(&[&["run", "go"], patterns].concat(), code);
        let expected = if code == 0 { "write a\n" } else { "" };
        assert_eq!(journal(&talk), expected, "{patterns:?}");
    }
}

#[test]
fn what_the_configuration_approves_runs_unasked() {
    for (listed, switch, code) in
        [(json!(["write"]), true, 0), (json!(["write"]), false, 5), (json!(["echo"]), true, 5)]
    {
        let talk = talk(WAYS[3], &listed, json!({"autoApprove": switch}));
        talk.run(&["run", "go"], code);
        let expected = if code == 0 { "write a\n" } else { "" };
        assert_eq!(journal(&talk), expected, "{listed} {switch}");
        if code == 0 {
            let calls = talk.switchboard.json(&["calls"]);
            assert_eq!([&calls[0]["face"], &calls[0]["caller"]], ["chat", "model:fast"]);
            assert_eq!(calls[0]["verdict"], "allow");
        }
    }
}

#[test]
fn after_so_many_unasked_calls_in_a_row_the_task_ends() {
    let form = Form::Native;
    let number =
        |a: u64| form.turn("On.", &[VendorCall::Tool("echo", "add", json!({"a": a, "b": 1}))]);
    let setup = Setup::new(WAYS[2]).servers(json!({"echo": fixture(&["echo"])}));
    let talk = setup.chat(&json!({"unaskedLimit": 2})).start(&[number(1), number(2), number(3)]);
    let events = talk.task(&[], 8);
    let last = events.last().unwrap();
    assert_eq!([&last["end"], &last["limit"]], ["stopped", "unasked"], "{last}");
    assert_eq!(talk.switchboard.recorded_calls(), ["tool echo/add: ok"; 2]);
}
