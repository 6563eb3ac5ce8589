//! The review menu and the prompt whether to continue, inside a conversation.
#![cfg(target_os = "linux")]

use serde_json::{Value, json};

use crate::scripted::{last_session, results, scripted_home};
use crate::switchboard::{Switchboard, fixture};
use crate::terminal::{CTRL_C, ESCAPE, Terminal};

/// The end of the menu: once it is shown, a key answers.
const MENU: &str = "[e] edit the arguments";

/// Returns a home with a server `notes` that keeps a journal, and a model scripted with these
/// turns.
fn notes(settings: &Value, turns: &Value) -> Switchboard {
    let switchboard = Switchboard::new();
    let journal = switchboard.text_path("journal");
    let entry = fixture(&["echo", "--journal", &journal]);
    let config = json!({"mcpServers": {"notes": entry}, "settings": settings});
    crate::scripted::configure(&switchboard, &config, turns);
    switchboard
}

/// Returns a turn that asks to write these keys.
fn write(expect: &[&str], keys: &[&str]) -> Value {
    let call = |key: &&str| json!({"name": "notes__write", "arguments": {"key": key}});
    json!({"expect": expect, "calls": keys.iter().map(call).collect::<Vec<_>>()})
}

fn written_lines(switchboard: &Switchboard) -> Vec<String> {
    let journal = std::fs::read_to_string(switchboard.path("journal")).unwrap_or_default();
    let lines = journal.lines().filter_map(|line| line.strip_prefix("write "));
    lines.map(str::to_owned).collect()
}

#[track_caller]
fn quit(mut terminal: Terminal) {
    terminal.line("/quit");
    let (code, shown) = terminal.finish();
    assert_eq!(code, 0, "{shown}");
}

#[test]
fn running_skipping_and_telling_reach_the_model() {
    let turns = json!([
        write(&[], &["a"]),
        write(&["wrote a"], &["b"]),
        write(&["The user rejected this call."], &["c"]),
        {"expect": ["<feedback>\nuse d instead\n</feedback>"], "text": "Understood."},
    ]);
    let switchboard = notes(&json!({}), &turns);
    let mut terminal = Terminal::open(&switchboard, &["chat"]);
    terminal.line("Write");
    terminal.wait_for("Run write on notes?");
    terminal.wait_for("\"key\": \"a\"");
    terminal.wait_for("asked because `settings.autoApprove` is off");
    terminal.wait_for(MENU);
    terminal.say("r");
    terminal.wait_for("✓ notes/write");
    terminal.wait_for(MENU);
    terminal.say("s");
    terminal.wait_for("✗ notes/write: rejected");
    terminal.wait_for(MENU);
    terminal.say("t");
    terminal.wait_for("What should be done instead?");
    terminal.say("use d instead\r");
    terminal.wait_for("Understood.");
    quit(terminal);
    assert_eq!(written_lines(&switchboard), ["a"]);
    let rejected = "tool notes/write: rejected (person)";
    assert_eq!(switchboard.recorded_calls(), ["tool notes/write: ok", rejected, rejected]);
}

#[test]
fn what_is_always_allowed_is_written_down_and_not_asked_again() {
    let turns = json!([write(&[], &["a"]), write(&["wrote a"], &["b"]), {"expect": ["wrote b"], "text": "Both."}]);
    let switchboard = notes(&json!({"autoApprove": true}), &turns);
    let mut terminal = Terminal::open(&switchboard, &["chat"]);
    terminal.line("Write");
    terminal.wait_for("not in `autoApprove` of server `notes`");
    terminal.wait_for(MENU);
    terminal.say("a");
    let shown = terminal.wait_for("Both.");
    assert!(!shown.contains("Run write on notes?"), "{shown}");
    quit(terminal);
    let config: Value = serde_json::from_str(&switchboard.config_text()).unwrap();
    assert_eq!(config["mcpServers"]["notes"]["autoApprove"], json!(["write"]));
    assert_eq!(written_lines(&switchboard), ["a", "b"]);
}

#[test]
fn always_counts_for_the_rest_of_the_message() {
    let turns =
        json!([write(&[], &["a", "b"]), {"expect": ["wrote a", "wrote b"], "text": "Both."}]);
    let switchboard = notes(&json!({"autoApprove": true}), &turns);
    let mut terminal = Terminal::open(&switchboard, &["chat"]);
    terminal.line("Write");
    terminal.wait_for(MENU);
    terminal.say("a");
    let shown = terminal.wait_for("Both.");
    assert!(!shown.contains("Run write on notes?"), "{shown}");
    quit(terminal);
}

#[test]
fn what_is_always_allowed_is_asked_again_while_the_switch_is_off() {
    let turns = json!([write(&[], &["a"]), write(&["wrote a"], &["b"]), {"expect": ["wrote b"], "text": "Both."}]);
    let switchboard = notes(&json!({}), &turns);
    let mut terminal = Terminal::open(&switchboard, &["chat"]);
    terminal.line("Write");
    terminal.wait_for("always-allow answers apply once it is on");
    terminal.wait_for(MENU);
    terminal.say("a");
    terminal.wait_for("Run write on notes?");
    terminal.wait_for(MENU);
    terminal.say("r");
    terminal.wait_for("Both.");
    quit(terminal);
}

/// Returns an editor that replaces the file with the first of these texts that it has not used yet.
fn editor(switchboard: &Switchboard, texts: &[&str]) -> String {
    for (number, text) in texts.iter().enumerate() {
        switchboard.write(&format!("edit-{number}"), text);
    }
    let folder = switchboard.text_path("edit");
    let lines = format!("for f in {folder}-*; do cat \"$f\" > \"$1\"; rm \"$f\"; exit 0; done\n");
    format!("sh {}", switchboard.write("editor.sh", &lines).display())
}

#[test]
fn edited_arguments_run_are_recorded_and_told_to_the_model() {
    let turns = json!([
        write(&[], &["a"]),
        {"expect": ["The user changed the arguments to", "\"b\"", "wrote b"], "text": "I see."},
    ]);
    let switchboard = notes(&json!({}), &turns);
    let editor = editor(&switchboard, &["{\"key\": \"b\"}"]);
    let mut terminal = Terminal::open_with(&switchboard, &["chat"], &[("EDITOR", &editor)]);
    terminal.line("Write");
    terminal.wait_for(MENU);
    terminal.say("e");
    terminal.wait_for("\"key\": \"b\"");
    let menu = terminal.wait_for(MENU);
    assert!(!menu.contains("[a] always allow"), "{menu}");
    terminal.say("r");
    terminal.wait_for("I see.");
    quit(terminal);
    assert_eq!(written_lines(&switchboard), ["b"]);
    let newest = switchboard.json(&["calls", "--limit", "1"]);
    let shown = switchboard.json(&["calls", "show", newest[0]["id"].as_str().unwrap()]);
    let arguments = [&shown["arguments"], &shown["sent_arguments"]];
    assert_eq!(arguments, [&json!({"key": "a"}), &json!({"key": "b"})]);
}

#[test]
fn an_edit_that_cannot_be_sent_is_asked_about_again() {
    let turns = json!([write(&[], &["a"]), {"expect": ["wrote c"], "text": "At last."}]);
    let switchboard = notes(&json!({}), &turns);
    let texts = ["{\"key\": ", "{\"key\": 7}", "{\"key\": \"c\"}"];
    let editor = editor(&switchboard, &texts);
    let mut terminal = Terminal::open_with(&switchboard, &["chat"], &[("EDITOR", &editor)]);
    terminal.line("Write");
    for (keys, shown) in [
        ("e", "Not changed: this is not JSON"),
        ("e", "\"key\": 7"),
        ("r", "That cannot be sent: "),
        ("e", "\"key\": \"c\""),
        ("r", "At last."),
    ] {
        terminal.wait_for(MENU);
        terminal.say(keys);
        terminal.wait_for(shown);
    }
    quit(terminal);
    assert_eq!(written_lines(&switchboard), ["c"]);
}

#[test]
fn whoever_leaves_the_menu_stops_the_step() {
    for key in [ESCAPE, CTRL_C] {
        let turns = json!([
            {"calls": [
                {"name": "notes__write", "arguments": {"key": "a"}},
                {"name": "notes__write", "arguments": {"key": "b"}},
            ]},
            {"expect": ["what now"], "text": "Nothing ran."},
        ]);
        let switchboard = notes(&json!({}), &turns);
        let mut terminal = Terminal::open(&switchboard, &["chat"]);
        terminal.line("Write");
        terminal.wait_for(MENU);
        terminal.press(key, "… stopped");
        terminal.line("what now");
        terminal.wait_for("Nothing ran.");
        quit(terminal);
        assert_eq!(written_lines(&switchboard), Vec::<String>::new());
        assert_eq!(switchboard.recorded_calls(), ["tool notes/write: cancelled (by_caller)"]);
    }
}

#[test]
fn leaving_the_menu_stops_calls_that_run_beside_it_too() {
    let turns =
        json!([write(&[], &["a", "b", "c"]), {"expect": ["what now"], "text": "Nothing ran."}]);
    for _ in 0..3 {
        let switchboard = notes(&json!({"chat": {"calls": "parallel"}}), &turns);
        let mut terminal = Terminal::open(&switchboard, &["chat"]);
        terminal.line("Write");
        terminal.wait_for(MENU);
        terminal.say(ESCAPE);
        let shown = terminal.wait_for("… stopped");
        assert!(!shown.contains(MENU), "{shown}");
        terminal.line("what now");
        let shown = terminal.wait_for("Nothing ran.");
        assert!(!shown.contains(MENU), "{shown}");
        quit(terminal);
        assert_eq!(switchboard.recorded_calls(), ["tool notes/write: cancelled (by_caller)"; 3]);
    }
}

#[test]
fn a_rejection_leaves_out_the_rest_of_the_message() {
    let left_out = "Not run, because the user rejected an earlier call of the same message.";
    let turns = json!([
        write(&[], &["a", "b", "c"]),
        {"expect": ["wrote a", "The user rejected this call.", left_out], "text": "I see."},
    ]);
    let switchboard = notes(&json!({}), &turns);
    let mut terminal = Terminal::open(&switchboard, &["chat"]);
    terminal.line("Write");
    terminal.wait_for(MENU);
    terminal.say("r");
    terminal.wait_for("\"key\": \"b\"");
    terminal.wait_for(MENU);
    terminal.say("s");
    let shown = terminal.wait_for("I see.");
    assert!(!shown.contains("\"key\": \"c\""), "{shown}");
    quit(terminal);
    assert_eq!(written_lines(&switchboard), ["a"]);
}

#[test]
fn reading_a_resource_is_asked_about_and_cannot_always_be_allowed() {
    let read = json!({"server_name": "notes", "uri": "test://static-text"});
    let turns = json!([
        {"calls": [{"name": "access_mcp_resource", "arguments": read}]},
        {"expect": ["The text of a resource."], "text": "Read it."},
    ]);
    let switchboard = notes(&json!({}), &turns);
    let mut terminal = Terminal::open(&switchboard, &["chat"]);
    terminal.line("Read");
    terminal.wait_for("Read test://static-text of notes?");
    terminal.wait_for("cannot always be allowed");
    terminal.wait_for(MENU);
    terminal.say("r");
    terminal.wait_for("Read it.");
    quit(terminal);
}

/// Returns three calls of missing tools, and the turn that follows.
fn three_mistakes(then: &Value) -> Value {
    let mistake =
        |number| json!({"calls": [{"name": format!("no_such_{number}"), "arguments": {}}]});
    json!([mistake(1), mistake(2), mistake(3), then])
}

#[test]
fn after_three_mistakes_the_person_says_whether_to_go_on() {
    for (answer, then, shown) in [
        ("y", json!({"expect": ["unknown tool `no_such_3`"], "text": "Going on."}), "Going on."),
        ("use a pen", json!({"expect": ["use a pen"], "text": "A pen it is."}), "A pen it is."),
        ("n", json!({"text": "Never said."}), "stopped at the limit"),
        ("", json!({"text": "Never said."}), "stopped at the limit"),
    ] {
        let switchboard = scripted_home(&json!({}), &three_mistakes(&then));
        let mut terminal = Terminal::open(&switchboard, &["chat"]);
        terminal.line("Try");
        terminal.wait_for("the model made 3 mistakes in a row");
        terminal.wait_for("Continue? [y] yes   [n] no   or type instructions: ");
        terminal.say(&format!("{answer}\n"));
        terminal.wait_for(shown);
        quit(terminal);
        assert_eq!(results(&switchboard, &last_session(&switchboard)), Vec::<String>::new());
    }
}

#[test]
fn ctrl_c_at_the_question_whether_to_go_on_stops_the_step() {
    let switchboard = scripted_home(&json!({}), &three_mistakes(&json!({"text": "Never said."})));
    let mut terminal = Terminal::open(&switchboard, &["chat"]);
    terminal.line("Try");
    terminal.wait_for("or type instructions: ");
    terminal.say(CTRL_C);
    terminal.wait_for("… stopped");
    quit(terminal);
}

#[test]
fn so_many_calls_run_without_a_question_and_no_more() {
    let turns = json!([
        write(&[], &["a"]), write(&["wrote a"], &["b"]), {"text": "Never said."},
    ]);
    let switchboard = notes(&json!({"chat": {"unaskedLimit": 1}}), &turns);
    let mut terminal = Terminal::open(&switchboard, &["chat", "--allow", "notes/write"]);
    terminal.line("Write");
    terminal.wait_for("1 call in a row ran without approval");
    terminal.wait_for("or type instructions: ");
    terminal.say("y\n");
    terminal.wait_for("✓ notes/write");
    terminal.wait_for("or type instructions: ");
    terminal.say("n\n");
    quit(terminal);
    assert_eq!(written_lines(&switchboard), ["a", "b"]);
}

#[test]
fn keys_pressed_while_the_model_thinks_are_no_answer_to_the_menu() {
    let mut first = write(&[], &["a"]);
    first["text"] = json!("Let me think about that for a while.");
    first["delayMs"] = json!(100);
    let turns = json!([first, {"expect": ["rejected this call"], "text": "As you like."}]);
    let switchboard = notes(&json!({}), &turns);
    let mut terminal = Terminal::open(&switchboard, &["chat"]);
    terminal.line("Write");
    terminal.wait_for("Let me think");
    terminal.say("r");
    terminal.wait_for(MENU);
    terminal.say("s");
    terminal.wait_for("As you like.");
    quit(terminal);
    assert_eq!(written_lines(&switchboard), Vec::<String>::new());
}
