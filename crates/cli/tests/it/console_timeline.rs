//! One call as a timeline: hooks and progress are recorded and shown in order everywhere.

use serde_json::{Value, json};

use crate::console_browser::browse;
use crate::console_person::Person;
use crate::hook_scripts::saying;
use crate::serve_client::{ServingGateway, until};
use crate::switchboard::{Switchboard, fixture};

/// Returns a secret that must not be shown.
fn token() -> String {
    format!("ghp_{}", "a1B2".repeat(9))
}

/// Returns a server with a hook before its calls and one after them.
fn home_with_hooks() -> Switchboard {
    let switchboard = Switchboard::with(&json!({"echo": fixture(&["echo"])}));
    let answer = json!({"permission": "allow", "user_message": format!("saw {}", token())});
    switchboard.script("own/before.sh", &saying(&answer));
    switchboard.script("own/after.sh", "cat > /dev/null");
    let hooks = json!({
        "beforeMCPExecution": [{"command": "./before.sh"}],
        "afterMCPExecution": [{"command": "./after.sh"}],
    });
    switchboard.hooks("own/hooks.json", &json!({"version": 1, "hooks": hooks}));
    switchboard
}

/// Returns arguments for a thousand progress reports.
fn thousand() -> Value {
    json!({"ms": 200, "steps": 1_000, "words": format!("row \u{202e}{}", token())})
}

/// Returns the kinds of the steps, with consecutive duplicates removed.
fn kinds(steps: &Value) -> Vec<String> {
    let steps = steps.as_array().unwrap().iter();
    let mut kinds: Vec<String> =
        steps.map(|step| step["what"].as_str().unwrap().to_owned()).collect();
    kinds.dedup();
    kinds
}

/// Fails unless these parts occur in the text in this order.
fn in_order(text: &str, parts: &[&str]) {
    let mut rest = text;
    for part in parts {
        let found = rest.split_once(part);
        rest = found.unwrap_or_else(|| panic!("no `{part}` there in {text}")).1;
    }
}

#[test]
fn a_thousand_reports_and_two_hooks_are_kept_in_order_and_shown_by_every_face() {
    let switchboard = home_with_hooks();
    let person = Person::at(&switchboard, &[]);
    until(|| person.ask("servers/echo")["state"] == "ready");
    let body = json!({"arguments": thousand(), "watch": "w"});
    let ran = person.act("tools/echo/slow/call", &body).json();
    assert_eq!(ran["outcome"], "ok", "{ran}");
    let id = ran["id"].as_str().unwrap().to_owned();
    let shown = person.ask(&format!("calls/{id}"));
    let steps = &shown["steps"];
    assert_eq!(kinds(steps), ["decided", "hook", "progress", "hook"], "{steps}");
    let steps = steps.as_array().unwrap();
    assert!(steps.is_sorted_by_key(|step| step["after_milliseconds"].as_f64()), "{steps:?}");
    let hooks: Vec<&Value> = steps.iter().filter(|step| step["what"] == "hook").collect();
    for (hook, (name, when, answer, message)) in hooks.into_iter().zip([
        ("./before.sh", "beforeMCPExecution", "allow", json!("saw [redacted]")),
        ("./after.sh", "afterMCPExecution", "told", Value::Null),
    ]) {
        let told = json!([hook["hook"], hook["level"], hook["when"], hook["answer"]]);
        assert_eq!(told, json!([name, "user", when, answer]));
        assert_eq!((&hook["problem"], &hook["message"]), (&Value::Null, &message));
        assert!(hook["milliseconds"].as_f64() > Some(0.0), "{hook}");
    }
    let reports: Vec<&Value> = steps.iter().filter(|step| step["what"] == "progress").collect();
    assert_eq!(shown["progress_reports"], 1_000);
    assert!((12..=22).contains(&reports.len()), "{}", reports.len());
    let first = reports[0];
    let last = reports[reports.len() - 1];
    assert_eq!((&first["progress"], &last["progress"]), (&json!(1), &json!(1_000)));
    assert_eq!(first["message"], "row \u{202e}[redacted] 1");
    assert_eq!(shown["verdict_by"], "a person typed it");

    let page = person.get(&format!("/calls/{id}")).body;
    let (_, page) = page.split_once(r#"<ol class="timeline">"#).unwrap();
    let parts = [
        "Proposed", "Decided: allow", "Hook before: allow", "./before.sh", "saw [redacted]",
        ">Sent<", ">Progress<", " of 1000 reports", "1 of 1000", "1000 of 1000",
        "Hook after: told", "Ended: ok",
    ];
    in_order(page, &parts);
    assert!(!page.contains('\u{202e}'), "{page}");

    let exported = person.get("/api/v1/calls/export").body;
    let line: Value = serde_json::from_str(exported.lines().next().unwrap()).unwrap();
    assert_eq!(line["steps"], shown["steps"]);
    assert!(!exported.contains("a1B2a1B2"), "{exported}");

    let told = switchboard.run(&["calls", "show", &id]).expect(0).stdout;
    let parts = [
        "timeline:",
        "proposed by person:person",
        "decided: allow by a person typed it",
        "hook before `./before.sh` (user): allow: saw [redacted]",
        "sent to echo#0",
        "progress 1 of 1000: row ",
        "progress 1000 of 1000",
        "hook after `./after.sh` (user): told",
        "ended: ok",
        "of 1000 progress reports are kept",
    ];
    in_order(&told, &parts);
    assert!(!told.contains('\u{202e}'), "{told}");
    assert_eq!(switchboard.json(&["calls", "show", &id])["steps"], shown["steps"]);
    person.serving.signal("TERM");
    person.serving.finish();
    switchboard.run(&["calls", "verify"]).expect(0);
}

#[test]
fn a_call_to_which_nothing_happened_has_no_steps_of_its_own() {
    let switchboard = Switchboard::with(&json!({"echo": fixture(&["echo"])}));
    switchboard.run(&["call", "echo", "echo", "text=a"]).expect(0);
    let newest = switchboard.newest();
    assert_eq!((&newest["steps"], &newest["progress_reports"]), (&json!([]), &json!(0)));
}

#[test]
fn what_a_server_asks_and_says_is_among_the_steps() {
    let switchboard = Switchboard::with(&json!({"asker": fixture(&["asker"])}));
    switchboard.run(&["call", "asker", "say", "level=warning", "text=hello"]).expect(0);
    let newest = switchboard.newest();
    let said = newest["steps"].as_array().unwrap().iter().find(|step| step["what"] == "said");
    let said = said.unwrap_or_else(|| panic!("{newest}"));
    assert_eq!((&said["level"], &said["text"]), (&json!("warning"), &json!("hello")));
    assert_eq!(newest["messages_heard"], 1);

    let switchboard = Switchboard::with(&json!({"echo": fixture(&["echo"])}));
    switchboard.run(&["call", "echo", "ask", "question=Which one?"]);
    let newest = switchboard.newest();
    let asked = newest["steps"].as_array().unwrap().iter().find(|step| step["what"] == "asked");
    let asked = asked.unwrap_or_else(|| panic!("{newest}"));
    assert_eq!(asked["method"], "elicitation/create");
    assert_eq!(asked["message"], "Which one?");
    assert!(asked["answer"].is_string(), "{asked}");
}

#[test]
fn the_page_of_a_call_shows_its_steps_in_a_browser() {
    let switchboard = home_with_hooks();
    let arguments = thousand().to_string();
    switchboard.run(&["call", "echo", "slow", "--json-args", &arguments]).expect(0);
    let serving = ServingGateway::start(&switchboard, &[]);
    let mut seen = browse(&serving, "console_timeline", &["1"]);
    let reports = seen["reports"].take();
    assert!(reports.as_str().unwrap().ends_with(" of 1000 reports"), "{reports}");
    let expected = json!({
        "steps": ["Proposed", "Decided: allow", "Hook before: allow", "Sent", "Progress",
            "Hook after: told", "Ended: ok"],
        "reports": null,
        "first": 1,
        "last": 1_000,
        "in_order": true,
        "words": seen["words"],
    });
    assert_eq!(seen, expected);
}
