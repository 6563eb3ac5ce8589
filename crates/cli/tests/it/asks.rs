//! Server requests to the person: forms, URLs, roots.

use serde_json::{Value, json};

#[cfg(target_os = "linux")]
use crate::running::{TEST_TIMEOUT, started_pids};
use crate::switchboard::{Switchboard, fixture, result_text};
use crate::testenv;

const FORM: [&str; 3] = ["call", "everything", "trigger-elicitation-request"];

fn everything() -> Switchboard {
    Switchboard::with(&json!({"everything": testenv::everything()}))
}

/// The questions of the form and the keys that fill in a field of every kind.
#[cfg(target_os = "linux")]
const FILLED_IN: [(&str, &str); 14] = [
    ("Your full, legal name", "Ada Lovelace\r"),
    ("Agree to the terms", "y\r"),
    ("Favorite first line", "\r"),
    ("Your email address", "ada@example.org\r"),
    ("Portfolio / personal website", "\r"),
    ("Your date of birth", "1815-12-10\r"),
    ("Your favorite integer", "7\r"),
    ("Favorite number", "2.5\r"),
    ("Choose your favorite friend", "2\r"),
    ("Choose your favorite instruments", "1,3\r"),
    ("Choose your favorite hero", "\r"),
    ("Choose your favorite types of fish", "2\r"),
    ("Choose your favorite type of pet", "3\r"),
    ("Send it?", "y\r"),
];

#[cfg(target_os = "linux")]
#[test]
fn a_form_of_a_real_server_is_filled_in_at_the_terminal() {
    let switchboard = everything();
    let ran = switchboard.run_typed(&FORM, &FILLED_IN).expect(0);
    assert!(
        ran.stdout
            .contains("Server everything asks you, for trigger-elicitation-request (call 1):"),
        "{ran:?}"
    );
    assert!(ran.stdout.contains("| Please provide inputs for the following fields:"), "{ran:?}");
    let (_, raw) = ran.stdout.split_once("Raw result: ").unwrap_or_else(|| panic!("{ran:?}"));
    let raw: Value = serde_json::from_str(raw.trim()).unwrap();
    assert_eq!(
        raw,
        json!({"action": "accept", "content": {
            "name": "Ada Lovelace",
            "check": true,
            "firstLine": "It was a dark and stormy night.",
            "email": "ada@example.org",
            "birthdate": "1815-12-10",
            "integer": 7,
            "number": 2.5,
            "untitledSingleSelectEnum": "Rachel",
            "untitledMultipleSelectEnum": ["Guitar", "Violin"],
            "titledSingleSelectEnum": "hero-1",
            "titledMultipleSelectEnum": ["fish-2"],
            "legacyTitledEnum": "pet-3",
        }})
    );
    assert_eq!(switchboard.recorded_calls(), ["tool everything/trigger-elicitation-request: ok"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_form_can_be_declined_and_left() {
    let switchboard = everything();
    let name = "Your full, legal name";
    for (answers, action) in [
        (vec![(name, "!decline\r")], "User declined"),
        (vec![(name, "\u{1b}")], "User cancelled"),
        (vec![(name, "Ada\r"), ("Agree to the terms", "\u{3}")], "User cancelled"),
    ] {
        let ran = switchboard.run_typed(&FORM, &answers).expect(0);
        assert!(ran.stdout.contains(action), "{action}: {ran:?}");
    }
    let expected = ["tool everything/trigger-elicitation-request: ok"; 3];
    assert_eq!(switchboard.recorded_calls(), expected);
}

#[test]
fn el_03_without_a_person_a_form_is_declined_and_the_call_has_one_outcome() {
    let switchboard = everything();
    let ran = switchboard.run_with_input(&FORM, "Ada\ny\ny\n").expect(0);
    assert!(ran.stdout.contains("User declined"), "{ran:?}");
    let expected = "warning: a question of server `everything` was declined: Please provide \
                    inputs for the following fields:\nhint: there is no terminal to ask on; use \
                    one, or pass `--wait-for-review`\n";
    assert_eq!(ran.stderr, expected);
    assert_eq!(switchboard.recorded_calls(), ["tool everything/trigger-elicitation-request: ok"]);
}

#[test]
fn el_01_a_question_for_a_secret_is_turned_down_in_both_eras() {
    for era in ["legacy", "modern"] {
        let switchboard = Switchboard::with(&json!({"echo": fixture(&["echo", "--era", era])}));
        let words = ["echo", "ask", "question=Please enter your password"];
        assert_eq!(result_text(&switchboard.call(&words, 0)), "no answer: decline", "{era}");
        let ran = switchboard.run(&[&["call"], &words[..]].concat()).expect(0);
        let expected = "warning: a question of server `echo` was refused: it asks for a secret \
                        (`password`) in a form, which is not allowed\n";
        assert_eq!(ran.stderr, expected, "{era}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_question_is_answered_in_both_eras() {
    let heading = "asks you, for ask (call 1):";
    for era in ["legacy", "modern"] {
        let switchboard = Switchboard::with(&json!({"echo": fixture(&["echo", "--era", era])}));
        let words = ["call", "echo", "ask", "question=Which colour?"];
        let answers = [("| Which colour?", "green\r"), ("Send it?", "y\r")];
        let ran = switchboard.run_typed(&words, &answers).expect(0);
        assert!(ran.stdout.contains(heading), "{era}: {ran:?}");
        assert!(ran.stdout.ends_with("green\r\n"), "{era}: {ran:?}");
        assert_eq!(switchboard.recorded_calls(), ["tool echo/ask: ok"], "{era}");
    }
}

/// A model that calls the asking tool and then reports its result.
#[cfg(target_os = "linux")]
const SCRIPT: &str = r#"{"turns": [
    {"calls": [{"name": "echo__ask", "arguments": {"question": "Which colour?"}}]},
    {"expect": ["green"], "text": "It is green.", "or": {"text": "No colour."}}
]}"#;

#[cfg(target_os = "linux")]
#[test]
fn a_server_may_ask_in_the_middle_of_a_conversation() {
    let answers = [("| Which colour?", "green\r"), ("Send it?", "y\r")];
    let chat = [("/help lists", "hello\r"), answers[0], answers[1], ("It is green.", "/quit\r")];
    for era in ["legacy", "modern"] {
        let switchboard = Switchboard::with(&json!({"echo": fixture(&["echo", "--era", era])}));
        switchboard.write("script.json", SCRIPT);
        let model = ["--model", "scripted:script.json", "--allow", "echo/*"];
        let run = [&["run"], &model[..], &["hello"]].concat();
        let ran = switchboard.run_typed(&run, &answers).expect(0);
        assert!(ran.stdout.contains("It is green."), "{era}: {ran:?}");
        let ran = switchboard.run_typed(&[&["chat"], &model[..]].concat(), &chat).expect(0);
        assert!(ran.stdout.contains("It is green."), "{era}: {ran:?}");
        assert_eq!(switchboard.recorded_calls(), ["tool echo/ask: ok"; 2], "{era}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_form_goes_away_with_its_server_and_leaves_the_terminal_as_it_was() {
    let switchboard = Switchboard::new();
    let trace = switchboard.path("trace");
    let words = ["echo", "--era", "legacy", "--trace", trace.to_str().unwrap()];
    switchboard.configure(&json!({"echo": fixture(&words)}));
    let call = ["call", "echo", "ask", "question=Which colour?"];
    let terminal = switchboard.in_terminal_then(&call, "echo \"code $?\"; stty -a");
    terminal.wait_for("| Which colour?");
    let pid = started_pids(&trace)[0].to_string();
    let killed = std::process::Command::new("kill").args(["-9", &pid]).status().unwrap();
    assert!(killed.success());
    let ran = terminal.finish_within(TEST_TIMEOUT);
    assert!(!ran.stdout.contains("code 0"), "{ran:?}");
    let modes: Vec<&str> = ran.stdout.split_whitespace().collect();
    for mode in ["icanon", "echo", "isig"] {
        assert!(modes.contains(&mode), "no `{mode}`: {ran:?}");
    }
    assert!(ran.stdout.contains("> \r\n(the server withdrew its question)\r\n"), "{ran:?}");
    assert_eq!(switchboard.recorded_calls(), ["tool echo/ask: unknown (may_have_executed)"]);
}

#[cfg(target_os = "linux")]
#[test]
fn el_02_an_address_is_opened_without_a_shell_and_only_after_a_yes() {
    use std::os::unix::fs::PermissionsExt as _;
    let switchboard = everything();
    let opener = switchboard.write("bin/xdg-open", "");
    let opened = switchboard.path("opened");
    let script = format!("#!/bin/sh\nprintf '%s|' \"$@\" > '{}'\n", opened.display());
    std::fs::write(&opener, script).unwrap();
    std::fs::set_permissions(&opener, std::fs::Permissions::from_mode(0o755)).unwrap();
    let url = "https://github.com.evil.tld/login?a=1&b=$(touch%20x);c='d'";
    let words = ["call", "everything", "trigger-url-elicitation", &format!("url={url}")];
    for (answer, expected) in [("\r", None), ("y\r", Some(format!("{url}|")))] {
        let mut terminal = switchboard.in_terminal_with(&words, opener.parent().unwrap());
        terminal.wait_for("Open it in your browser? [y/N]");
        assert!(!opened.exists(), "it was opened before anybody agreed");
        terminal.say(answer);
        let ran = terminal.finish_within(TEST_TIMEOUT).expect(0);
        assert!(ran.stdout.contains(&format!("\r\n  {url}\r\n")), "{ran:?}");
        assert!(ran.stdout.contains("The domain is \u{1b}[1mevil.tld\u{1b}[0m."), "{ran:?}");
        assert!(ran.stdout.contains("but belongs to evil.tld"), "{ran:?}");
        assert_eq!(std::fs::read_to_string(&opened).ok(), expected);
    }
}

#[test]
fn servers_are_told_of_the_folders_in_the_settings_and_of_no_others() {
    let switchboard = Switchboard::new();
    let servers = json!({"everything": testenv::everything()});
    switchboard.write_config(&json!({"mcpServers": servers}).to_string());
    assert!(!switchboard.tools("everything").contains(&"get-roots-list".to_owned()));
    let folder = switchboard.text_path("my notes");
    std::fs::create_dir(&folder).unwrap();
    let config = json!({"mcpServers": servers, "settings": {"roots": [folder]}});
    switchboard.write_config(&config.to_string());
    // The server offers more tools to clients with roots, and new tools need approval.
    let held = switchboard.call(&["everything", "get-roots-list"], 5);
    assert_eq!(held["reason"], "needs_approval");
    switchboard.run(&["pins", "approve", "everything"]).expect(0);
    let listed = switchboard.call(&["everything", "get-roots-list"], 0);
    let expected = format!("1. my notes\n   URI: file://{}", folder.replace(' ', "%20"));
    assert!(result_text(&listed).contains(&expected), "{listed}");
}
