//! Tests of the calls of one answer: several at once, invalid ones, and repeated ones.

use std::time::Duration;

use serde_json::{Value, json};
use switchboard_testkit::ModelVendor;

use crate::switchboard::fixture;
use crate::talking::{Form, Setup, VendorCall, WAYS, events_by_kind, last_words, wrapped_call};

fn echo() -> Value {
    json!({"echo": fixture(&["echo"])})
}

fn add(a: u64, b: u64) -> VendorCall {
    VendorCall::Tool("echo", "add", json!({"a": a, "b": b}))
}

fn say(text: &str) -> VendorCall {
    VendorCall::Tool("echo", "echo", json!({ "text": text }))
}

#[test]
fn several_calls_of_one_message_run_in_order_and_are_answered_in_order() {
    for (vendor, form) in WAYS {
        for calls in if form == Form::Native { &["each", "parallel"][..] } else { &["parallel"] } {
            let setup = Setup::new((vendor, form)).servers(echo()).chat(&json!({ "calls": calls }));
            // The first call takes longest, so the order of the results is not accidental.
            let slow = VendorCall::Tool("echo", "slow", json!({"ms": 150}));
            let turn = form.turn("Three.", &[slow, say("two"), add(1, 2)]);
            let talk = setup.start(&[turn, json!({"text": "Done."})]);
            let events = talk.task(&[], 0);
            let told = talk.told_last();
            let places: Vec<Option<usize>> =
                ["slept 150 ms", "two", "{\"sum\":3}"].iter().map(|text| told.find(text)).collect();
            assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{form:?}: {told}");
            let slots: Vec<&Value> =
                events_by_kind(&events, "ended").iter().map(|event| &event["slot"]).collect();
            match *calls {
                "each" => assert_eq!(slots, [0, 1, 2], "{vendor:?} {form:?}"),
                _ => assert_eq!(slots[2], 0, "the slow one ends last: {vendor:?} {form:?}"),
            }
            assert_eq!(last_words(&events), "Done.");
        }
    }
}

#[test]
fn parallel_calls_run_at_the_same_time() {
    let form = Form::Native;
    let setup = Setup::new(WAYS[0]).servers(echo()).chat(&json!({"calls": "parallel"}));
    let slow = |ms: u64| VendorCall::Tool("echo", "slow", json!({ "ms": ms }));
    let turn = form.turn("All.", &[slow(1000), slow(1001), slow(1002), slow(1003)]);
    let talk = setup.start(&[turn, json!({"text": "Done."})]);
    let events = talk.task(&[], 0);
    // All calls began before the first one ended.
    let kinds: Vec<&str> = events
        .iter()
        .map(|event| event["event"].as_str().unwrap())
        .filter(|kind| ["call", "ended"].contains(kind))
        .collect();
    assert_eq!(kinds, ["call", "call", "call", "call", "ended", "ended", "ended", "ended"]);
    let ended = events_by_kind(&events, "ended");
    let longest = ended.iter().map(|event| event["milliseconds"].as_u64().unwrap()).max();
    assert!(Duration::from_millis(longest.unwrap()) < Duration::from_secs(4), "{ended:?}");
}

#[test]
fn where_only_one_call_is_made_the_others_are_told_so() {
    for (vendor, form) in WAYS {
        let setup = Setup::new((vendor, form)).servers(echo()).chat(&json!({"calls": "one"}));
        let turn = form.turn("Two.", &[say("first"), say("second")]);
        let talk = setup.start(&[turn, json!({"text": "One at a time."})]);
        let events = talk.task(&[], 0);
        let told = talk.told_last();
        assert!(told.contains("first"), "{told}");
        assert!(told.contains("Not run: only one call per message is allowed here."), "{told}");
        assert_eq!(
            talk.switchboard.recorded_calls(),
            ["tool echo/echo: ok"],
            "{vendor:?} {form:?}"
        );
        assert_eq!(events_by_kind(&events, "call").len(), 1);
    }
}

#[test]
fn a_mistake_is_told_in_words_that_help() {
    for (form, asked, expected) in [
        (
            Form::Native,
            VendorCall::Tool("echo", "ad", json!({})),
            "Nothing was called: unknown tool `echo__ad`. Similar names: `echo__add`",
        ),
        (
            Form::Text,
            VendorCall::Tool("echo", "environmnt", json!({})),
            "Nothing was called: server `echo` lists no tool `environmnt`. (did you mean \
             `environment`?)",
        ),
        (
            Form::Text,
            VendorCall::Tool("echo", "swim", json!({})),
            "Nothing was called: server `echo` lists no tool `swim`.",
        ),
        (
            Form::Text,
            VendorCall::Tool("ecko", "add", json!({})),
            "Nothing was called: unknown server `ecko`",
        ),
        (Form::Native, VendorCall::Tool("echo", "add", json!({"a": 1})), "`/b` is required"),
        (Form::Text, VendorCall::Tool("echo", "add", json!({"a": 1})), "`/b` is required"),
        (Form::Tags, VendorCall::Tool("echo", "add", json!({"a": 1})), "`/b` is required"),
        (
            Form::Native,
            VendorCall::Tool("echo", "add", json!({"a": "x", "b": 1})),
            "`/a` must be a number",
        ),
        (
            Form::Native,
            VendorCall::Resource("echo", "test://nothing"),
            "Nothing was called: server `echo` lists no resource `test://nothing`",
        ),
    ] {
        let talk = Setup::new((ModelVendor::Anthropic, form))
            .servers(echo())
            .start(&[form.turn("So?", std::slice::from_ref(&asked)), json!({"text": "I see."})]);
        let events = talk.task(&[], 0);
        assert_eq!(last_words(&events), "I see.", "{asked:?}");
        let told = talk.told_last();
        assert!(told.contains(expected), "{form:?} {asked:?}: {told}");
        assert!(!told.contains("`switchboard "), "a model has no command line: {told}");
    }
}

#[test]
fn arguments_that_are_no_json_are_told_with_the_place() {
    let written =
        wrapped_call("echo", "add", &json!("X")).replace("\"X\"", "{\"a\": 1, \"b\" = = 2}");
    let talk = Setup::new(WAYS[3])
        .servers(echo())
        .start(&[json!({ "text": written }), json!({"text": "I see."})]);
    let events = talk.task(&[], 0);
    assert_eq!(events_by_kind(&events, "mistake").len(), 1);
    let told = talk.told_last();
    assert!(told.contains("Nothing was called: the arguments are not valid JSON: "), "{told}");
    assert!(told.contains("at line 1, column "), "{told}");
    assert_eq!(talk.switchboard.recorded_calls(), Vec::<String>::new());
}

#[test]
fn three_mistakes_in_a_row_end_the_task() {
    for (vendor, form) in WAYS {
        // A valid call resets the count.
        let wrong = |number: u64| {
            form.turn("Again.", &[VendorCall::Tool("echo", "add", json!({ "a": number }))])
        };
        let turns =
            [wrong(1), wrong(2), form.turn("Right.", &[add(1, 1)]), wrong(3), wrong(4), wrong(5)];
        let talk = Setup::new((vendor, form)).servers(echo()).start(&turns);
        let events = talk.task(&[], 8);
        let last = events.last().unwrap();
        assert_eq!([&last["end"], &last["limit"]], ["stopped", "mistakes"], "{last}");
        assert_eq!(talk.bodies().len(), 6, "{vendor:?} {form:?}");
    }
}

#[test]
fn the_same_call_is_warned_about_and_stopped_at_the_fifth_time() {
    for (vendor, form) in WAYS {
        let turns: Vec<Value> = (0..6).map(|_| form.turn("Once more.", &[add(1, 1)])).collect();
        let talk = Setup::new((vendor, form)).servers(echo()).start(&turns);
        let events = talk.task(&[], 8);
        let last = events.last().unwrap();
        assert_eq!([&last["end"], &last["limit"]], ["stopped", "repeats"], "{last}");
        assert_eq!(
            talk.switchboard.recorded_calls(),
            ["tool echo/add: ok"; 4],
            "{vendor:?} {form:?}"
        );
        let told = talk.newest_messages();
        for (request, times) in [(3, "3rd"), (4, "4th")] {
            let told = told[request].join("\n");
            assert!(told.contains(&format!("for the {times} time in a row")), "{told}");
        }
        assert!(!told[2].join("\n").contains("in a row"), "{told:?}");
    }
}

#[test]
fn a_call_that_breaks_off_with_the_answer_is_told_as_a_mistake() {
    for form in [Form::Text, Form::Tags] {
        let whole = form.turn("I add.", &[add(1, 2)]);
        let (half, _) = whole["text"].as_str().unwrap().rsplit_once("</").unwrap();
        let turn = json!({"text": half, "stop": "length"});
        let again = form.turn("Again.", &[add(1, 2)]);
        let talk = Setup::new((ModelVendor::Gemini, form)).servers(echo()).start(&[
            turn,
            again,
            json!({"expect": ["3"], "text": "Three."}),
        ]);
        let events = talk.task(&[], 0);
        assert_eq!(last_words(&events), "Three.", "{form:?}");
        let told = talk.newest_messages()[1].join("\n");
        assert!(told.contains("Nothing was called: ") && told.contains("was not closed"), "{told}");
        assert_eq!(talk.switchboard.recorded_calls(), ["tool echo/add: ok"], "{form:?}");
    }
}

#[test]
fn a_tool_that_appears_during_a_task_can_be_called() {
    for (vendor, form) in WAYS {
        // The delay lets the new list arrive before the model is asked again.
        let mut slowly =
            form.turn("I look.", &[VendorCall::Tool("echo", "slow", json!({"ms": 400}))]);
        slowly["delayMs"] = json!(20);
        let off = json!({"pins": "off"});
        let talk = Setup::new((vendor, form)).servers(echo()).settings(off).start(&[
            form.turn("I grow.", &[VendorCall::Tool("echo", "grow", json!({}))]),
            slowly,
            form.turn(
                "I use it.",
                &[VendorCall::Tool("echo", "grown_1", json!({"query": "fish"}))],
            ),
            json!({"expect": ["grown_1", "fish"], "text": "It is there."}),
        ]);
        let events = talk.task(&[], 0);
        assert_eq!(last_words(&events), "It is there.", "{vendor:?} {form:?}");
        let last = talk.bodies().pop().unwrap();
        assert!(last.to_string().contains("grown_1"), "{vendor:?} {form:?}");
        if form == Form::Native {
            assert!(talk.offered_names(&last).contains(&"echo__grown_1".to_owned()), "{vendor:?}");
        }
    }
}

#[test]
fn a_server_that_dies_in_a_call_does_not_end_the_task() {
    for (vendor, form) in WAYS {
        let server = fixture(&["flaky", "--fault", "crash-after-read", "--times", "1"]);
        let talk = Setup::new((vendor, form)).servers(json!({ "echo": server })).start(&[
            form.turn("I write.", &[VendorCall::Tool("echo", "write", json!({"key": "a"}))]),
            json!({"expect": ["It is not known whether this ran"], "text": "I look first."}),
        ]);
        let events = talk.task(&[], 0);
        assert_eq!(last_words(&events), "I look first.", "{vendor:?} {form:?}");
        let [recorded] = &talk.switchboard.recorded_calls()[..] else { panic!("one call") };
        assert!(recorded.starts_with("tool echo/write: unknown"), "{recorded}");
    }
}
