//! The web console in a real browser: one story per page, with servers in their own processes.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use crate::console_apps;
use crate::running::RunningProcess;
use crate::scripted::scripted_home;
use crate::serve_client::ServingGateway;
use crate::switchboard::{Switchboard, fixture};
use crate::testenv::{NODE, everything, installed_path};
use crate::told_server;

/// How long a browser story may take; browsers are slow while other tests run.
const BROWSING: Duration = Duration::from_secs(240);

/// Returns what a story saw at the console of `serving`, without the members for faults: all must
/// be empty.
pub(crate) fn browse(serving: &ServingGateway, story: &str, wanted: &[&str]) -> Value {
    let script = format!("{}/../testkit/clients/{story}.mjs", env!("CARGO_MANIFEST_DIR"));
    let mut command = Command::new(installed_path(NODE));
    command.arg(script).arg(installed_path("browser/node_modules")).arg(serving.console_link());
    let mut running = RunningProcess::start(command.args(wanted));
    running.close_input();
    let mut seen: Value = running.finish_within(BROWSING).expect(0).json();
    assert!(seen["failed"].is_null(), "{}\n{seen}", seen["failed"].as_str().unwrap_or_default());
    for (never, nothing) in [
        ("errors", json!([])),
        ("dialogs", json!(0)),
        ("violations", json!([])),
        ("wide", json!([])),
    ] {
        assert_eq!(seen[never].take(), nothing, "{never}");
        seen.as_object_mut().unwrap().remove(never);
    }
    seen
}

/// Answers as a server with an app and with a tool whose arguments are deeply nested.
fn says(method: &str, params: &Value) -> Result<Value, String> {
    if method == "tools/call" && params["name"] == "plan" {
        let text = params["arguments"].to_string();
        return Ok(json!({"content": [{"type": "text", "text": text}]}));
    }
    let mut said = console_apps::says(method, params)?;
    if method == "tools/list" {
        let at = json!({"type": "object", "properties": {
            "hour": {"type": "integer", "minimum": 0, "maximum": 23}}});
        let from = json!({"type": "object", "required": ["city"], "properties": {
            "city": {"type": "string"}, "at": at, "quiet": {"type": "boolean"}}});
        let extras = json!({"type": "array", "items": {"enum": ["bicycle", "dog", "meal"]}});
        let schema = json!({"type": "object", "required": ["title", "from"], "properties": {
            "title": {"type": "string"}, "from": from,
            "class": {"enum": ["first", "second"]}, "extras": extras}});
        let plan = json!({"name": "plan", "description": "Plans it.", "inputSchema": schema});
        said["tools"].as_array_mut().unwrap().push(plan);
    }
    Ok(said)
}

#[test]
fn somebody_looks_adds_tries_approves_and_finds_it_again() {
    let switchboard = Switchboard::new();
    let overlay = switchboard.text_path("overlay");
    switchboard.configure(&json!({
        "echo": fixture(&["echo"]),
        "drifting": fixture(&["echo", "--overlay", &overlay]),
        "apps": {"url": told_server::start_whole(says)},
        "broken": {"command": "no-such-program-anywhere"},
    }));
    let serving = ServingGateway::start(&switchboard, &["--review", "ask"]);
    serving.wait_for_tool(None, "echo__add");
    serving.wait_for_tool(None, "drifting__add");
    let mut entry = fixture(&["echo"]);
    entry["env"] = json!({"TOKEN": "not-to-be-seen", "PLACE": "${HOME}"});
    let seen = browse(&serving, "console", &[&overlay, &entry.to_string()]);
    let expected = json!({
        "title": "Overview",
        "servers": ["apps", "broken", "builtin", "drifting", "echo"],
        "entry": {"TOKEN": "[kept]", "PLACE": "${HOME}"},
        "new": true,
        "typed": true,
        "sum": "{\n  \"sum\": 42\n}",
        "nested": {
            "title": "A journey",
            "from": {"city": "Basel", "at": {"hour": 7}, "quiet": true},
            "class": "second",
            "extras": ["bicycle", "dog"],
        },
        "refused": "`drifting/echo` needs approval: its definition has changed (description)\nhint: \
            review it with `switchboard pins diff drifting/echo`, then approve it with `switchboard \
            pins approve drifting/echo`",
        "difference": [
            "- description: \"Answers with the text.\"",
            "+ description: \"Now it shouts.\"",
        ],
        "approved": "Now it shouts.",
        "verdict": "ask",
        "otherwise": true,
        "app": ["\"show\" for \"Ada\"", "\"other\" for null", "no parent, no cookie", "222px"],
        "waiting": "1",
        "answered": "from a client",
        "newest": "echo / echo",
        "steps": ["Proposed", "Decided: ask", "Sent", "Ended: ok"],
        "again": "from a client",
        "callers": ["console · person:person", "gateway · client:tester"],
        "further": 0,
        "out": "Sign in",
    });
    assert_eq!(seen, expected);
}

/// Returns a program that writes down its process id and then serves, and that starts only while
/// the gate exists.
fn mortal(switchboard: &Switchboard, process: &str, gate: &str) -> String {
    let echo = fixture(&["echo"]);
    let program = switchboard.write(
        "mortal",
        &format!(
            "#!/bin/sh\n[ -e '{gate}' ] || {{ echo the gate is closed >&2; exit 3; }}\n\
             echo $$ > '{process}'\nexec '{}' echo\n",
            echo["command"].as_str().unwrap()
        ),
    );
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    program.to_str().unwrap().to_owned()
}

#[test]
fn what_waits_for_somebody_is_answered_in_the_page_and_a_dead_server_is_started_again() {
    let switchboard = Switchboard::new();
    let process = switchboard.text_path("process");
    let gate = switchboard.text_path("gate");
    switchboard.write("gate", "");
    let echo = fixture(&["echo"]);
    switchboard.configure(&json!({
        "echo": echo,
        "everything": everything(),
        "mortal": {"command": mortal(&switchboard, &process, &gate)},
    }));
    let serving = ServingGateway::start(&switchboard, &["--review", "ask"]);
    serving.wait_for_tool(None, "echo__add");
    serving.wait_for_tool(None, "mortal__add");
    serving.wait_for_tool(None, "everything__trigger-elicitation-request");
    let seen = browse(&serving, "console_asked", &[&process, &gate]);
    let expected = json!({
        "thanked": true,
        "form": {"action": "accept", "content": {
            "name": "Ada Lovelace",
            "check": true,
            "firstLine": "It was a dark and stormy night.",
            "email": "ada@example.org",
            "birthdate": "1815-12-10",
            "integer": 7,
            "number": 2.5,
            "untitledSingleSelectEnum": "Monica",
            "untitledMultipleSelectEnum": ["Guitar", "Piano"],
            "titledSingleSelectEnum": "hero-1",
            "titledMultipleSelectEnum": ["fish-1"],
            "legacyTitledEnum": "pet-1",
        }},
        "declined": "❌ User declined to provide the requested information.",
        "address": {
            "shown": "https://login.example.com/consent?for=me",
            "domain": "example.com",
            "rel": "noopener noreferrer",
            "went": 0,
            "told": true,
        },
        "keys": ["one", true, "rejected"],
        "crashed": {"ready": false, "has_reason": true, "back": true, "stayed": true, "notes": 0},
    });
    assert_eq!(seen, expected);
}

#[test]
fn somebody_talks_with_a_model_in_the_page_and_its_call_waits_there() {
    let turns = json!([
        {"text": "Hello there.", "chunk": 3},
        {"calls": [{"name": "echo__echo", "arguments": {"text": "wanted"}}]},
        {"expect": ["wanted"], "text": "It said so."},
    ]);
    let switchboard = scripted_home(&json!({"mcpServers": {"echo": fixture(&["echo"])}}), &turns);
    let serving = ServingGateway::start(&switchboard, &[]);
    serving.wait_for_tool(None, "echo__add");
    let seen = browse(&serving, "console_talk", &[]);
    let expected = json!({
        "asked": "echo / echo",
        "turns": [
            "person: Hi", "model: Hello there.", "person: Call it", "call: echo__echo",
            "model: It said so.",
        ],
        "caller": true,
        "listed": 1,
    });
    assert_eq!(seen, expected);
}

#[test]
fn a_first_turn_waits_in_its_own_page_once_also_after_a_reload_and_in_a_second_tab() {
    let turns = json!([
        {"text": "I call it.", "calls": [{"name": "echo__echo", "arguments": {"text": "wanted"}}]},
        {"expect": ["wanted"], "text": "It said so."},
    ]);
    let switchboard = scripted_home(&json!({"mcpServers": {"echo": fixture(&["echo"])}}), &turns);
    let serving = ServingGateway::start(&switchboard, &[]);
    serving.wait_for_tool(None, "echo__add");
    let seen = browse(&serving, "console_first_turn", &[]);
    let turns = ["person: Call it", "model: I call it."];
    let waiting = json!({"reviews": 1, "stop": true, "turns": turns});
    let ended = [&turns[..], &["call: echo__echo", "model: It said so."]].concat();
    let expected = json!({
        "first": waiting,
        "reloaded": waiting,
        "tab": waiting,
        "ended": [ended, ended],
        "other": waiting,
    });
    assert_eq!(seen, expected);
}

#[test]
fn much_that_happens_leaves_a_page_usable_in_place_and_up_to_date() {
    let switchboard = Switchboard::with(&json!({"echo": fixture(&["echo"])}));
    switchboard.write_policy("user", &json!({"rules": [{"effect": "allow", "target": "echo/*"}]}));
    let serving = ServingGateway::start(&switchboard, &[]);
    serving.wait_for_tool(None, "echo__echo");
    let seen = browse(&serving, "console_flood", &["echo__echo", "1000", "1500"]);
    // A client that falls behind gets a notice about missed events.
    assert!(seen["events"].as_u64() >= Some(3_000) || seen["missed"] != 0, "{seen}");
    assert_eq!(seen["moved"], 0, "what is read stays in place: {seen}");
    for (page, rows) in [("overview", 8), ("calls", 50)] {
        let page = &seen[page];
        assert_eq!((&page["rows"], &page["newest"]), (&json!(rows), &json!(true)), "{seen}");
        assert_eq!(page["shifted"], json!([]), "nothing moves but rows: {seen}");
        assert!(page["clicks"].as_u64().unwrap() > 0, "{seen}");
    }
}
