//! A server that attacks its readers: no control character reaches the terminal.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::running::Ran;
use crate::switchboard::{Switchboard, fixture};

/// Returns whether a character moves the cursor, hides text or reverses it.
fn is_harmful(character: char) -> bool {
    (character.is_control() && character != '\n' && character != '\t')
        || matches!(character,
            '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}'
            | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

fn check(ran: &Ran, words: &[&str]) {
    for text in [&ran.stdout, &ran.stderr] {
        let harmful = text.chars().find(|character| is_harmful(*character));
        assert_eq!(harmful, None, "{words:?} prints it raw");
    }
}

#[test]
fn nothing_that_a_hostile_server_says_reaches_the_terminal_raw() {
    let switchboard = Switchboard::new();
    // The scanner is off: tools that it holds cannot be called.
    let config =
        json!({"mcpServers": {"hostile": fixture(&["hostile"])}, "settings": {"scan": "off"}});
    switchboard.write_config(&config.to_string());
    let tools = ["plain", "escape", "bidi", "tags", "deep", "shifting"];
    let listed: [&[&str]; 4] = [
        &["tools", "--server", "hostile"],
        &["servers"],
        &["doctor"],
        &["tools", "show", "hostile", "\u{1b}]0;owned\u{7}"],
    ];
    let shown = tools.map(|tool| ["tools", "show", "hostile", tool]);
    let called = tools.map(|tool| ["call", "hostile", tool]);
    let all = listed.into_iter().chain(shown.iter().map(|words| &words[..]));
    for words in all.chain(called.iter().map(|words| &words[..])) {
        let ran = switchboard.run(words).expect(0);
        assert!(!ran.stdout.is_empty(), "{words:?}");
        check(&ran, words);
    }
    // A person cannot mean a name with control characters.
    for words in [["call", "hostile", "e\u{1b}[2J"], ["call", "\u{1b}[2J", "echo"]] {
        check(&switchboard.run(&words).expect(2), &words);
    }
    let calls = switchboard.run(&["calls"]).expect(0);
    check(&calls, &["calls"]);
}

#[test]
fn a_schema_that_cannot_be_checked_stops_only_its_own_tool() {
    let switchboard = Switchboard::with(&json!({"hostile": fixture(&["hostile"])}));
    for (tool, why) in
        [("big_schema", "more than 262144"), ("remote_ref", "refers to another document")]
    {
        let refused = switchboard.run(&["call", "hostile", tool]).expect(4);
        assert!(refused.stderr.contains(why), "{refused:?}");
    }
    let plain = switchboard.run(&["call", "hostile", "plain"]).expect(0);
    assert_eq!(plain.stdout, "Nothing bad.\n");
}

#[test]
fn endless_lists_end_and_so_does_the_program() {
    let switchboard = Switchboard::with(&json!({"hostile": fixture(&["hostile"])}));
    let begun = Instant::now();
    let listed = switchboard.json(&["tools", "--server", "hostile"]);
    assert!(begun.elapsed() < Duration::from_secs(5), "it took {:?}", begun.elapsed());
    assert!(listed.as_array().unwrap().len() <= 2_048);
}

#[cfg(target_os = "linux")]
#[test]
fn a_review_shows_hostile_names_and_arguments_escaped() {
    let switchboard = Switchboard::with(&json!({"hostile": fixture(&["hostile"])}));
    let words =
        ["call", "hostile", "\u{1b}]0;owned\u{7}", "x=\u{1b}[31m\u{202e}", "--review", "--quiet"];
    let mut terminal = switchboard.in_terminal(&words);
    terminal.wait_for("[e] edit the arguments");
    terminal.say("s");
    let ran = terminal.finish_within(crate::running::TEST_TIMEOUT).expect(5);
    let question = ran.stdout.split("Run ").nth(1).unwrap_or_default().replace('\r', "");
    let question = question.split("bytes of arguments").next().unwrap_or_default();
    assert_eq!(question.chars().find(|character| is_harmful(*character)), None, "{question:?}");
    assert!(question.contains(r"\e]0;owned\x07") && question.contains("<U+202E>"), "{question:?}");
}
