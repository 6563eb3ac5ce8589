//! Tests of `--review`: only a person decides.

#[cfg(target_os = "linux")]
use std::time::Duration;

use serde_json::{Value, json};

#[cfg(target_os = "linux")]
use crate::running::{Ran, TEST_TIMEOUT};
use crate::switchboard::{Switchboard, fixture};
use crate::transcript::transcript;

#[test]
fn without_a_terminal_nothing_that_needs_a_person_runs() {
    let switchboard = Switchboard::new();
    let journal = switchboard.text_path("journal");
    switchboard.configure(&json!({"echo": fixture(&["echo", "--journal", &journal])}));
    let words = ["call", "echo", "write", "key=a", "--review"];
    let refused = switchboard.run_with_input(&words, "r\n").expect(5);
    insta::assert_snapshot!(transcript(&refused), @"
    exit status 5
    --- stderr
    error: `echo/write` needs approval, but there is no terminal to ask on
    hint: run it at a terminal or with `--wait-for-review`, or add `write` to `autoApprove` of server `echo` and turn on `settings.autoApprove`
    ");
    let done = std::fs::read_to_string(&journal).unwrap_or_default();
    assert_eq!(done, "", "the tool ran");
    assert_eq!(switchboard.recorded_calls(), ["tool echo/write: denied (unanswered)"]);
}

#[test]
fn a_tool_is_allowed_unasked_when_its_list_and_the_switch_both_say_so() {
    for (switch, listed, code) in
        [(true, json!(["echo"]), 0), (true, json!(["add"]), 5), (false, json!(["echo"]), 5)]
    {
        let switchboard = Switchboard::new();
        let mut entry = fixture(&["echo"]);
        entry["autoApprove"] = listed;
        let config = json!({"mcpServers": {"echo": entry}, "settings": {"autoApprove": switch}});
        switchboard.write_config(&config.to_string());
        switchboard.run(&["call", "echo", "echo", "text=a", "--review"]).expect(code);
    }
}

/// End of the menu: once it is shown, the program reads keys.
#[cfg(target_os = "linux")]
const MENU: &str = "[e] edit the arguments";

/// Calls the tool at a terminal and answers its question.
#[cfg(target_os = "linux")]
fn call_with_answers(switchboard: &Switchboard, server: &str, answers: &[(&str, &str)]) -> Ran {
    let mut terminal = switchboard.in_terminal(&["call", server, "echo", "text=hey", "--review"]);
    for (question, answer) in answers {
        terminal.wait_for(question);
        terminal.say(answer);
    }
    terminal.finish_within(TEST_TIMEOUT)
}

#[cfg(target_os = "linux")]
#[test]
fn the_question_shows_the_exact_call_and_all_answers() {
    let switchboard = Switchboard::with(&json!({"echo": fixture(&["echo"])}));
    let ran = call_with_answers(&switchboard, "echo", &[(MENU, "?"), (MENU, "r")]);
    for part in [
        "Run echo on echo?",
        r#""text": "hey""#,
        "[r] run",
        "[o] only this session",
        "[a] always allow",
        "[s] skip",
        "[t] tell what to do instead",
    ] {
        assert!(ran.stdout.contains(part), "no `{part}` in {}", ran.stdout);
    }
    assert!(ran.stdout.ends_with("hey\r\n"), "{ran:?}");
    assert_eq!(ran.code, 0);
    assert_eq!(switchboard.recorded_calls(), ["tool echo/echo: ok"]);
}

#[cfg(target_os = "linux")]
#[test]
fn skip_and_reject_do_not_run_the_call() {
    let switchboard = Switchboard::with(&json!({"echo": fixture(&["echo"])}));
    let skipped = call_with_answers(&switchboard, "echo", &[(MENU, "s")]).expect(5);
    assert!(!skipped.stdout.ends_with("hey\r\n"), "{skipped:?}");
    let rejected =
        call_with_answers(&switchboard, "echo", &[(MENU, "t"), ("instead?", "add the numbers\n")]);
    assert!(rejected.expect(5).stdout.contains("error: add the numbers"));
    let expected = ["tool echo/echo: rejected (person)"; 2];
    assert_eq!(switchboard.recorded_calls(), expected);
    let newest = switchboard.json(&["calls", "--limit", "1"]);
    let shown = switchboard.json(&["calls", "show", newest[0]["id"].as_str().unwrap()]);
    assert_eq!(shown["message"], "add the numbers");
}

#[cfg(target_os = "linux")]
#[test]
fn always_is_remembered_in_the_file_of_the_server() {
    for (server, entry) in [("echo", fixture(&["echo"])), ("builtin", json!({}))] {
        let switchboard = Switchboard::new();
        let servers = if server == "echo" { json!({ "echo": entry }) } else { json!({}) };
        let config = json!({"mcpServers": servers, "settings": {"autoApprove": true}});
        switchboard.write_config(&config.to_string());
        call_with_answers(&switchboard, server, &[(MENU, "a")]).expect(0);
        let config: Value = serde_json::from_str(&switchboard.config_text()).unwrap();
        assert_eq!(config["mcpServers"][server]["autoApprove"], json!(["echo"]), "{server}");
        // No terminal is attached, and none is needed.
        switchboard.run(&["call", server, "echo", "text=again", "--review"]).expect(0);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn ctrl_c_at_the_question_ends_the_program() {
    let switchboard = Switchboard::with(&json!({"echo": fixture(&["echo"])}));
    let mut terminal = switchboard.in_terminal(&["call", "echo", "echo", "text=hey", "--review"]);
    terminal.wait_for(MENU);
    terminal.say("\u{3}");
    terminal.finish_within(Duration::from_secs(5)).expect(130);
    assert_eq!(switchboard.recorded_calls(), ["tool echo/echo: cancelled (by_caller)"]);
}
