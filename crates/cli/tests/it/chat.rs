//! `switchboard chat` at a terminal: its display, its commands, and the messages to the model.
#![cfg(target_os = "linux")]

use serde_json::json;
use switchboard_testkit::ModelVendor;

use crate::scripted::{last_session, profile, scripted_home, steps, task};
use crate::switchboard::{Switchboard, fixture};
use crate::talking::{Form, KEY, KEY_VARIABLE, Setup};
use crate::terminal::{CTRL_D, Terminal};
use crate::transcript::{redacted, transcript};

/// Quits and fails unless the exit code is 0.
#[track_caller]
fn leave(mut terminal: Terminal) {
    terminal.line("/quit");
    let (code, shown) = terminal.finish();
    assert_eq!(code, 0, "{shown}");
    assert!(shown.contains("continues this conversation"), "{shown}");
}

#[test]
fn an_answer_is_shown_as_it_comes_without_its_markup() {
    let text = "This is **very bold** and *leaning*.\n\n## Heading\n\n- item one\n- item two\n";
    let switchboard = scripted_home(&json!({}), &json!([{"text": text, "chunk": 3}]));
    let mut terminal = Terminal::open(&switchboard, &["chat"]);
    terminal.wait_for("main (");
    terminal.wait_for("/help lists the commands.");
    terminal.line("Hello");
    terminal.wait_for("This is very bold and leaning.");
    let shown = terminal.wait_for("item two");
    assert!(shown.contains("Heading"), "{shown}");
    assert!(!shown.contains('#') && !shown.contains('*'), "{shown}");
    assert!(terminal.raw().contains("\u{1b}[1m"), "nothing is bold");
    leave(terminal);
}

#[test]
fn the_commands_show_what_there_is() {
    let config = json!({"mcpServers": {"echo": fixture(&["echo"])}});
    let switchboard = scripted_home(&config, &json!([{"text": "Never asked."}]));
    let mut terminal = Terminal::open(&switchboard, &["chat"]);
    for (typed, shown) in [
        ("/help", vec!["/tools [WORDS]", "/SERVER:PROMPT [KEY=VALUE]", "/export [FILE]", "/quit"]),
        ("/tools", vec!["echo", "Answers with the text.", "slow"]),
        ("/tools adds numbers", vec!["Adds two numbers."]),
        ("/servers", vec!["builtin", "echo", "ready"]),
        ("/model", vec!["main: scripted"]),
        ("/nonsense", vec!["error: unknown command `/nonsense`", "hint: try /help"]),
        ("/echo:nothing", vec!["error: ", "nothing"]),
        ("/rename", vec!["error: unknown command `/rename`"]),
    ] {
        terminal.line(typed);
        terminal.wait_for("\n");
        for text in shown {
            terminal.wait_for(text);
        }
    }
    leave(terminal);
}

#[test]
fn a_conversation_is_named_shown_and_written_out_from_within() {
    let turns = json!([{"text": "It is **fine**."}]);
    let switchboard = scripted_home(&json!({}), &turns);
    let mut terminal = Terminal::open(&switchboard, &["chat"]);
    terminal.line("How is it?");
    terminal.wait_for("It is fine.");
    terminal.line("/session");
    let session = last_session(&switchboard);
    terminal.wait_for(&format!("\n{session}\n"));
    terminal.line("/rename the weather");
    terminal.line("/export talk.md");
    terminal.wait_for("wrote talk.md");
    leave(terminal);
    let written = std::fs::read_to_string(switchboard.path("talk.md")).unwrap();
    for part in ["# the weather", "## User\n\nHow is it?", "## Assistant\n\nIt is **fine**."] {
        assert!(written.contains(part), "no `{part}` in {written}");
    }
    let listed = switchboard.json(&["sessions"]);
    assert_eq!(listed[0]["name"], "the weather");
}

#[test]
fn another_model_goes_on_with_the_same_conversation() {
    let switchboard = Switchboard::new();
    let config = json!({
        "models": {
            "first": profile(&switchboard, "first", &json!([{"text": "I am the first."}])),
            "second": profile(&switchboard, "second", &json!([
                {"text": "Nothing was said before."}, {"text": "I am the second."},
            ])),
        },
        "settings": {"chat": {"model": "first"}},
    });
    switchboard.write_config(&config.to_string());
    let mut terminal = Terminal::open(&switchboard, &["chat"]);
    terminal.line("Who?");
    terminal.wait_for("I am the first.");
    terminal.line("/model thrid");
    terminal.wait_for("error: unknown model `thrid`");
    terminal.line("/model second");
    terminal.wait_for("switched to second");
    terminal.line("/model");
    terminal.wait_for("second: scripted");
    terminal.line("And you?");
    terminal.wait_for("I am the second.");
    leave(terminal);
    assert_eq!(switchboard.json(&["sessions"])[0]["model"], "second");
}

#[test]
fn what_was_taken_back_is_unknown_to_the_model() {
    let turns = json!([
        {"expect": ["first"], "text": "Heard the one.", "or": {"text": "A fresh start."}},
        {"text": "I still know the earlier one."},
    ]);
    let switchboard = scripted_home(&json!({}), &turns);
    let mut terminal = Terminal::open(&switchboard, &["chat"]);
    terminal.line("first");
    terminal.wait_for("Heard the one.");
    terminal.line("/undo");
    terminal.wait_for("undid the last turn");
    terminal.line("second");
    terminal.wait_for("A fresh start.");
    leave(terminal);
    let shown = switchboard.run(&["sessions", "show", "last"]).expect(0).stdout;
    assert!(shown.contains("second") && !shown.contains("Heard the one."), "{shown}");
}

#[test]
fn without_a_turn_nothing_is_taken_back() {
    let switchboard = scripted_home(&json!({}), &json!([{"text": "Here I am."}]));
    let mut terminal = Terminal::open(&switchboard, &["chat"]);
    terminal.line("/undo");
    let shown = terminal.wait_for("nothing to undo");
    assert!(!shown.contains("undid"), "{shown}");
    terminal.line("Hello");
    terminal.wait_for("Here I am.");
    leave(terminal);
}

#[test]
fn a_whole_turn_is_taken_back_even_if_words_were_added_while_it_ran() {
    let config = json!({"mcpServers": {"echo": fixture(&["echo"])}});
    let turns = json!([
        {"expect": ["slowly"], "calls": [{"name": "echo__slow", "arguments": {"ms": 1500}}],
            "or": {"text": "A fresh start."}},
        {"expect": ["and more"], "text": "Both are done."},
    ]);
    let switchboard = scripted_home(&config, &turns);
    let mut terminal = Terminal::open(&switchboard, &["chat", "--allow", "echo"]);
    terminal.line("slowly");
    terminal.wait_for("→ echo/slow");
    terminal.say("and more\n");
    terminal.wait_for("Both are done.");
    terminal.line("/undo");
    terminal.wait_for("undid the last turn");
    terminal.line("again");
    terminal.wait_for("A fresh start.");
    leave(terminal);
}

#[test]
fn a_question_that_failed_is_asked_again() {
    let refused = json!({
        "text": "Now it works.", "fault": {"kind": "status", "status": 401, "times": 1},
    });
    let talk = Setup::new((ModelVendor::OpenAi, Form::Native)).start(&[refused]);
    let variables = [(KEY_VARIABLE, KEY)];
    let mut terminal = Terminal::open_with(&talk.switchboard, &["chat"], &variables);
    terminal.line("/retry");
    terminal.wait_for("no unanswered request to retry");
    terminal.line("Does it?");
    terminal.wait_for("error: ");
    terminal.line("/retry");
    terminal.wait_for("Now it works.");
    leave(terminal);
    assert_eq!(talk.newest_messages(), [["Does it?"], ["Does it?"]]);
}

#[test]
fn prompts_and_resources_of_a_server_are_told_to_the_model() {
    let config = json!({"mcpServers": {"echo": fixture(&["echo"])}});
    let turns = json!([
        {"expect": ["Hello, Ada Lovelace."], "text": "Greeted."},
        {"expect": ["Look at @echo:test://static-text please", "The text of a resource."],
            "text": "Read it."},
        {"expect": ["really@echo:no"], "text": "No mention."},
    ]);
    let switchboard = scripted_home(&config, &turns);
    let mut terminal = Terminal::open(&switchboard, &["chat"]);
    terminal.line("/echo:greet name=\"Ada Lovelace\"");
    terminal.wait_for("\nHello, Ada Lovelace.");
    terminal.wait_for("Greeted.");
    terminal.line("Look at @echo:test://static-text please");
    terminal.wait_for("Read it.");
    terminal.line("Look at @echo:test://nowhere");
    terminal.wait_for("error: ");
    terminal.line("really@echo:no");
    terminal.wait_for("No mention.");
    terminal.line("/echo:greet");
    terminal.wait_for("error: ");
    leave(terminal);
    let recorded = switchboard.recorded_calls();
    assert_eq!(recorded[..2], ["prompt echo/greet: ok", "resource echo/test://static-text: ok"]);
}

#[test]
fn lines_from_a_pipe_are_a_conversation_too() {
    let turns = json!([
        {"expect": ["one\ntwo"], "text": "Both lines."}, {"expect": ["three"], "text": "The end."},
    ]);
    let switchboard = scripted_home(&json!({}), &turns);
    let ran = switchboard.run_with_input(&["chat"], "one\\\ntwo\n\nthree\n").expect(0);
    assert_eq!(ran.stdout, "Both lines.\nThe end.\n", "{ran:?}");
    let refused = switchboard.run(&["chat", "--json"]).expect(2);
    insta::assert_snapshot!(redacted(&refused.stderr), @"
    error: `chat` is interactive and does not print JSON
    hint: `switchboard run --json` prints every event
    ");
}

#[test]
fn nothing_that_a_model_or_a_server_says_controls_the_terminal() {
    let config = json!({
        "mcpServers": {"bad": fixture(&["hostile", "--only", "escapes,bidi"])},
    });
    let text = "\u{1b}]0;owned\u{7}\u{1b}[2Jread \u{202e}this\u{9b}1A";
    let turns = json!([
        {"text": text, "calls": [
            {"name": "bad__escape", "arguments": {}}, {"name": "bad__none\u{1b}[2J", "arguments": {}},
        ]},
        {"text": format!("`{text}`\n\n```\n{text}\n```\n| a |\n|---|\n| {text} |\n\nThat was all.")},
    ]);
    let switchboard = scripted_home(&config, &turns);
    let mut terminal = Terminal::open(&switchboard, &["chat", "--allow", "bad"]);
    terminal.line("Do your worst");
    terminal.wait_for("✓ bad/escape");
    terminal.wait_for("That was all.");
    terminal.line("/tools");
    terminal.wait_for("The only harmless one.");
    terminal.line("/tools");
    terminal.prompt();
    let raw = terminal.raw();
    for part in ["\u{1b}]", "\u{1b}[2J", "\u{202e}", "\u{9b}", "\u{7}"] {
        assert!(!raw.contains(part), "{part:?} in {raw:?}");
    }
    terminal.say("/quit\r");
    assert_eq!(terminal.finish().0, 0);
}

#[test]
fn a_conversation_that_is_open_here_cannot_go_on_elsewhere() {
    let turns = json!([
        {"text": "One."}, {"expect": ["from here"], "text": "Two."},
        {"expect": ["after all"], "text": "Three."},
    ]);
    let switchboard = scripted_home(&json!({}), &turns);
    let mut terminal = Terminal::open(&switchboard, &["chat"]);
    terminal.line("begin");
    terminal.wait_for("One.");
    terminal.prompt();
    let session = last_session(&switchboard);
    let refused = switchboard.run(&["run", "--resume", &session, "from there"]).expect(2);
    insta::assert_snapshot!(transcript(&refused), @"
    exit status 2
    --- stderr
    error: the conversation `[session]` is open elsewhere
    hint: close it there, or fork it with `switchboard sessions fork`
    ");
    terminal.say("from here\r");
    terminal.wait_for("Two.");
    terminal.prompt();
    terminal.say(CTRL_D);
    assert_eq!(terminal.finish().0, 0);
    task(&switchboard, &["--resume", &session, "after all"]);
    let said: Vec<String> = steps(&switchboard, &session)
        .iter()
        .filter(|step| step["what"] == "said")
        .map(|step| step["text"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(said, ["begin", "from here", "after all"]);
}
