//! Tests of how deceptive texts are shown to a person; a test's name begins with its row.
#![cfg(target_os = "linux")]

use serde_json::{Value, json};
use switchboard_text::{is_ambiguous, is_hidden};

use crate::given::{server_entry, tool};
use crate::running::TEST_TIMEOUT;
use crate::scripted::configure;
use crate::switchboard::{Switchboard, fixture};
use crate::terminal::Terminal;

/// End of the menu: once it is shown, the program reads keys.
const MENU: &str = "[e] edit the arguments";

fn is_harmful(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\t')) || is_hidden(c) || is_ambiguous(c)
}

/// Returns the part of the review that shows the call.
#[track_caller]
fn question(switchboard: &Switchboard, words: &[&str]) -> String {
    let mut terminal = switchboard.in_terminal(&[words, &["--review", "--quiet"]].concat());
    terminal.wait_for(MENU);
    terminal.say("s");
    let ran = terminal.finish_within(TEST_TIMEOUT).expect(5);
    let question = ran.stdout.split("Run ").nth(1).unwrap_or_default().replace('\r', "");
    let question = question.split("bytes of arguments").next().unwrap_or_default().to_owned();
    assert_eq!(question.chars().find(|c| is_harmful(*c)), None, "{question:?}");
    question
}

fn echo() -> Switchboard {
    Switchboard::with(&json!({"notes": fixture(&["echo"])}))
}

#[test]
fn ux_01_ux_08_codes_for_the_terminal_are_shown_in_a_review() {
    for (argument, expected) in [
        ("text=\u{1b}[2K\u{1b}[1Als", r"\u001b[2K\u001b[1Als"),
        ("text=\u{9b}2J\u{90}x\u{9c}", r"\u009b2J\u0090x\u009c"),
        ("text=rm\rls\u{8}\u{8}\u{7}", r"rm\rls\b\b\u0007"),
        ("text=\u{1b}]1337;File=a\u{7}", r"\u001b]1337;File=a\u0007"),
    ] {
        let shown = question(&echo(), &["call", "notes", "echo", argument]);
        assert!(shown.contains(expected), "{shown}");
    }
}

#[test]
fn ux_04_ux_05_reordering_and_joining_characters_are_marked_in_a_review() {
    let shown =
        question(&echo(), &["call", "notes", "echo", "text=cod\u{202e}gpj.sh r\u{200b}m -rf"]);
    assert!(shown.contains("cod<U+202E>gpj.sh r<U+200B>m -rf"), "{shown}");
}

#[test]
fn ux_04_what_is_taken_for_a_space_or_for_nothing_is_marked_in_a_review() {
    let odd = "\u{a0}\u{1680}\u{2000}\u{200a}\u{2028}\u{2029}\u{202f}\u{205f}\u{3000}\u{115f}\
               \u{1160}\u{3164}\u{ffa0}\u{2800}\u{fdd0}\u{fffe}\u{e000}\u{10fffd}\u{fe0f}\u{e0100}";
    let argument: String = odd.chars().map(|c| format!("rm{c}-rf ")).collect();
    let shown = question(&echo(), &["call", "notes", "echo", &format!("text={argument}")]);
    let expected: String = odd.chars().map(|c| format!("rm<U+{:04X}>-rf ", u32::from(c))).collect();
    let on_one_line = shown.replace(['\n', ' '], "");
    assert!(on_one_line.contains(&expected.replace(' ', "")), "{expected} in {shown}");
    let shown = question(&echo(), &["call", "notes", "echo", "text=\u{301}\u{302}rm"]);
    assert!(shown.contains("\"<U+0301><U+0302>rm"), "{shown}");
}

#[test]
fn ux_02_ux_08_nothing_a_server_says_reaches_a_terminal_raw() {
    let bad =
        "x\u{1b}]8;;http://evil.test\u{7}y\u{1b}]52;c;AAAA\u{7}\u{1b}]0;t\u{7}\u{9b}2J\u{202e}\r";
    let switchboard = Switchboard::new();
    let offers = json!({
        "tools": [tool("get", bad, json!({"a": {"description": bad}})), tool("fail", "Fails.", json!({}))],
        "results": {
            "get": {"content": [{"type": "text", "text": bad}], "structuredContent": {bad: bad}},
            "fail": {"code": -32_000, "message": bad, "data": bad},
        },
        "notices": {"get": {"stderr": bad, "log": bad, "progress": bad}},
    });
    let entry = server_entry(&switchboard, "web", &offers);
    let config = json!({"mcpServers": {"web": entry}, "settings": {"scan": "off"}});
    switchboard.write_config(&config.to_string());
    let commands: [&[&str]; 11] = [
        &["tools", "show", "web", "get"],
        &["tools", "list", "--json"],
        &["tools", "list", "--held"],
        &["doctor", "web"],
        &["call", "web", "get"],
        &["call", "web", "get", "--json"],
        &["call", "web", "fail"],
        &["calls"],
        &["calls", "show", "1"],
        &["calls", "show", "3", "--json"],
        &["logs", "web"],
    ];
    for words in commands {
        let ran = switchboard.run(words);
        for text in [&ran.stdout, &ran.stderr] {
            let harmful = text.chars().find(|c| is_harmful(*c));
            assert_eq!(harmful, None, "{words:?} prints it raw: {text}");
        }
    }
}

#[test]
fn ux_06_a_long_argument_runs_only_after_its_end_was_seen() {
    let switchboard = echo();
    let long = format!("text={}; rm -rf", "a".repeat(20_000));
    let words = ["call", "notes", "echo", &long, "--review", "--quiet"];
    let mut terminal = switchboard.in_terminal(&words);
    terminal.wait_for(MENU);
    terminal.say("r");
    terminal.wait_for("Type the fingerprint below them");
    terminal.say("\r");
    terminal.wait_for_after("nothing runs", MENU);
    terminal.say("s");
    let ran = terminal.finish_within(TEST_TIMEOUT).expect(5);
    assert!(ran.stdout.contains("bytes of arguments") && ran.stdout.contains("; rm -rf"));
    assert!(!ran.stdout.contains('…'), "something was left out");
}

/// Returns a home in which the model requests two writes.
fn two_writes() -> Switchboard {
    let switchboard = Switchboard::new();
    let journal = switchboard.text_path("journal");
    let call = |key: &str| json!({"name": "notes__write", "arguments": {"key": key}});
    let turns: Value = json!([{"calls": [call("a"), call("b")]}, {"text": "Done."}]);
    let servers = json!({"notes": fixture(&["echo", "--journal", &journal])});
    configure(&switchboard, &json!({"mcpServers": servers}), &turns);
    switchboard
}

#[test]
fn ux_07_a_key_that_was_meant_for_the_question_before_does_not_answer_the_next() {
    let switchboard = two_writes();
    let mut terminal = Terminal::open(&switchboard, &["chat"]);
    terminal.line("Write");
    terminal.wait_for(MENU);
    terminal.say("rrrr");
    terminal.wait_for("\"key\": \"b\"");
    terminal.say("r\r");
    terminal.wait_for(MENU);
    terminal.say("s");
    terminal.wait_for("Done.");
    terminal.line("/quit");
    terminal.finish();
    let journal = std::fs::read_to_string(switchboard.path("journal")).unwrap();
    assert_eq!(journal, "write a\n");
}
