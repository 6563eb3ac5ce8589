//! Keys in a conversation: completion, history, interruptions, and type-ahead.
#![cfg(target_os = "linux")]

use serde_json::json;

use crate::scripted::{last_session, results, scripted_home, steps};
use crate::switchboard::fixture;
use crate::terminal::{CTRL_C, CTRL_D, Terminal, UP};

/// Returns an answer that begins at once and takes a very long time to finish.
fn slow_answer() -> serde_json::Value {
    json!({"text": format!("It begins {}", "and goes on ".repeat(100)), "chunk": 10, "delayMs": 300})
}

#[test]
fn a_line_goes_on_after_a_backslash() {
    let turns = json!([{"expect": ["one\ntwo"], "text": "Both lines came."}]);
    let switchboard = scripted_home(&json!({}), &turns);
    let mut terminal = Terminal::open(&switchboard, &["chat"]);
    terminal.line("one\\\rtwo");
    terminal.wait_for("Both lines came.");
    terminal.prompt();
    terminal.say(CTRL_D);
    assert_eq!(terminal.finish().0, 0);
}

#[test]
fn tab_completes_commands_prompts_and_resources() {
    let config = json!({"mcpServers": {"echo": fixture(&["echo"])}});
    let turns = json!([
        {"expect": ["Hello, Ada."], "text": "Greeted."},
        {"expect": ["@echo:test://static-text", "The text of a resource."], "text": "Read it."},
    ]);
    let switchboard = scripted_home(&config, &turns);
    let mut terminal = Terminal::open(&switchboard, &["chat"]);
    terminal.line("/he\t");
    terminal.wait_for("undo the last turn");
    terminal.line("/echo:g\t name=Ada");
    terminal.wait_for("Greeted.");
    terminal.line("see @echo:test://static-t\t");
    terminal.wait_for("Read it.");
    terminal.line("/q\t");
    assert_eq!(terminal.finish().0, 0);
}

#[test]
fn what_was_typed_is_remembered_in_the_next_run_unless_nothing_is_kept() {
    let turns = json!([{"expect": ["remember me"], "text": "I do."}]);
    let switchboard = scripted_home(&json!({}), &turns);
    let ask = |flags: &[&str], typed: &str, shown: &str| {
        let mut terminal = Terminal::open(&switchboard, &[&["chat"], flags].concat());
        terminal.line(typed);
        terminal.wait_for(shown);
        terminal.line("/quit");
        assert_eq!(terminal.finish().0, 0);
    };
    ask(&[], "remember me", "I do.");
    // The newest entry is `/quit`.
    ask(&[], &format!("{UP}{UP}"), "I do.");
    ask(&["--no-record"], "what now", "expects `remember me`");
    ask(&[], &format!("{UP}{UP}"), "I do.");
}

#[test]
fn ctrl_c_stops_an_answer_and_the_next_question_is_answered() {
    let turns = json!([slow_answer(), {"expect": ["next"], "text": "Here I am again."}]);
    let switchboard = scripted_home(&json!({}), &turns);
    let mut terminal = Terminal::open(&switchboard, &["chat"]);
    terminal.line("Tell me");
    terminal.wait_for("It begins");
    terminal.say(CTRL_C);
    terminal.wait_for("… stopped");
    terminal.line("next");
    terminal.wait_for("Here I am again.");
    terminal.prompt();
    terminal.say(CTRL_C);
    terminal.wait_for("press Ctrl-C again to leave");
    terminal.prompt();
    terminal.say(CTRL_C);
    let (code, shown) = terminal.finish();
    assert_eq!(code, 0, "{shown}");
    assert!(shown.contains("continues this conversation"), "{shown}");
    let kept = steps(&switchboard, &last_session(&switchboard));
    let stopped = kept.iter().find(|step| step["what"] == "cancelled").unwrap();
    assert!(stopped["heard"].as_str().unwrap().starts_with("It begins"), "{stopped}");
}

#[test]
fn ctrl_c_gives_a_call_up_and_the_model_learns_of_it() {
    let config = json!({"mcpServers": {"echo": fixture(&["echo"])}});
    let turns = json!([
        {"calls": [
            {"name": "echo__slow", "arguments": {"ms": 60000}},
            {"name": "echo__echo", "arguments": {"text": "later"}},
        ]},
        {"expect": ["go on"], "text": "As you wish."},
    ]);
    let switchboard = scripted_home(&config, &turns);
    let mut terminal = Terminal::open(&switchboard, &["chat", "--allow", "echo"]);
    terminal.line("Take your time");
    terminal.wait_for("→ echo/slow");
    terminal.say(CTRL_C);
    terminal.wait_for("… stopped");
    terminal.line("go on");
    terminal.wait_for("As you wish.");
    terminal.line("/quit");
    assert_eq!(terminal.finish().0, 0);
    assert_eq!(switchboard.recorded_calls(), ["tool echo/slow: cancelled (by_caller)"]);
    let told = results(&switchboard, &last_session(&switchboard));
    assert_eq!(told.len(), 1);
    assert!(told[0].starts_with("Cancelled before it ended: "), "{told:?}");
}

#[test]
fn whoever_presses_ctrl_c_on_and_on_gets_out() {
    let config = json!({"mcpServers": {"echo": fixture(&["echo"])}});
    let turns = json!([{"calls": [{"name": "echo__slow", "arguments": {"ms": 60000}}]}]);
    let switchboard = scripted_home(&config, &turns);
    let mut terminal = Terminal::open(&switchboard, &["chat", "--allow", "echo"]);
    terminal.line("Take your time");
    terminal.wait_for("→ echo/slow");
    for _ in 0..4 {
        terminal.say(CTRL_C);
        std::thread::sleep(std::time::Duration::from_millis(150));
    }
    let (code, shown) = terminal.finish();
    assert!(code == 0 || code == 130, "{code}: {shown}");
    assert_eq!(switchboard.recorded_calls(), ["tool echo/slow: cancelled (by_caller)"]);
}

#[test]
fn the_end_of_the_input_ends_the_conversation() {
    let switchboard = scripted_home(&json!({}), &json!([{"text": "Hello."}]));
    let mut terminal = Terminal::open(&switchboard, &["chat"]);
    terminal.line("Hi");
    terminal.wait_for("Hello.");
    terminal.prompt();
    terminal.say(CTRL_D);
    let (code, shown) = terminal.finish();
    assert_eq!(code, 0, "{shown}");
    let session = last_session(&switchboard);
    assert!(shown.contains(&format!("`switchboard chat --resume {session}` continues")), "{shown}");
}

#[test]
fn words_typed_while_a_tool_runs_reach_the_model_after_the_result() {
    let config = json!({"mcpServers": {"echo": fixture(&["echo"])}});
    let turns = json!([
        {"calls": [{"name": "echo__slow", "arguments": {"ms": 1500}}]},
        {"expect": ["in a hurry"], "text": "I hurry."},
    ]);
    let switchboard = scripted_home(&config, &turns);
    let mut terminal = Terminal::open(&switchboard, &["chat", "--allow", "echo"]);
    terminal.line("Take your time");
    terminal.wait_for("→ echo/slow");
    terminal.say("I am in a hurry\n");
    terminal.wait_for("(the model reads this after the current step)");
    terminal.wait_for("✓ echo/slow");
    terminal.wait_for("I hurry.");
    terminal.line("/quit");
    assert_eq!(terminal.finish().0, 0);
    let kept = steps(&switchboard, &last_session(&switchboard));
    let kinds: Vec<&str> = kept.iter().map(|step| step["what"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["began", "said", "answered", "said", "ended", "answered"]);
}

#[test]
fn commands_typed_while_a_tool_runs_are_commands_and_the_model_never_reads_them() {
    let config = json!({"mcpServers": {"echo": fixture(&["echo"])}});
    let turns = json!([
        {"calls": [{"name": "echo__slow", "arguments": {"ms": 3000}}]},
        {"text": "I am done."},
    ]);
    let switchboard = scripted_home(&config, &turns);
    let mut terminal = Terminal::open(&switchboard, &["chat", "--allow", "echo"]);
    terminal.line("Take your time");
    terminal.wait_for("→ echo/slow");
    terminal.say("/model\n");
    terminal.wait_for("main: scripted");
    terminal.say("/nonsense\n");
    terminal.wait_for("unknown command `/nonsense`");
    terminal.say("/undo\n");
    terminal.wait_for("(this runs after the current turn)");
    terminal.wait_for("I am done.");
    terminal.wait_for("undid the last turn");
    terminal.line("Once more");
    terminal.wait_for("→ echo/slow");
    terminal.say("/quit\n");
    assert_eq!(terminal.finish().0, 0);
    let kept = steps(&switchboard, &last_session(&switchboard));
    let said: Vec<&str> = kept
        .iter()
        .filter(|step| step["what"] == "said")
        .filter_map(|step| step["text"].as_str())
        .collect();
    assert_eq!(said, ["Take your time", "Once more"]);
}
