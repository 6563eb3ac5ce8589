//! Tests of `kill -9` in the middle of a conversation: the next process continues, and nothing runs
//! twice.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::running::{RunningProcess, wait_for_text};
use crate::scripted::{configure, last_session, results, scripted_home, steps, task};
use crate::switchboard::{Switchboard, fixture};

const SOON: Duration = Duration::from_secs(30);

/// Message to the model about a call that may or may not have run.
const UNKNOWN: &str = "It is not known whether this ran";

/// Starts a task with every call allowed and its events on standard output.
fn begin(switchboard: &Switchboard) -> RunningProcess {
    switchboard.start(&["run", "--allow", "*", "--json", "Do it"])
}

/// Returns a home with a server that writes at once and answers after a minute.
fn late(settings: &Value, turns: &Value) -> Switchboard {
    let switchboard = Switchboard::new();
    let journal = switchboard.text_path("journal");
    let arguments = [
        "flaky", "--fault", "late", "--pause-ms", "60000", "--times", "always", "--journal",
        &journal,
    ];
    let servers =
        json!({"late": fixture(&arguments), "echo": fixture(&["echo", "--journal", &journal])});
    let config = json!({"mcpServers": servers, "settings": settings});
    configure(&switchboard, &config, turns);
    switchboard
}

fn write(server: &str, key: &str) -> Value {
    json!({"name": format!("{server}__write"), "arguments": {"key": key}})
}

/// Returns the lines that the server wrote, in order.
fn written_lines(switchboard: &Switchboard) -> Vec<String> {
    let journal = std::fs::read_to_string(switchboard.path("journal")).unwrap_or_default();
    let lines = journal.lines().filter_map(|line| line.strip_prefix("write "));
    lines.map(str::to_owned).collect()
}

fn kinds(switchboard: &Switchboard, session: &str) -> Vec<String> {
    let steps = steps(switchboard, session);
    steps.iter().map(|step| step["what"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn an_answer_that_was_cut_off_is_asked_for_again() {
    let slow = json!([{"text": "It begins and goes on and on.", "chunk": 10, "delayMs": 1000}]);
    let switchboard = scripted_home(&json!({}), &slow);
    let mut running = switchboard.start(&["run", "Tell me"]);
    running.wait_for("It begins");
    running.kill();
    let session = last_session(&switchboard);
    assert_eq!(kinds(&switchboard, &session), ["began", "said"]);
    configure(&switchboard, &json!({}), &json!([{"expect": ["Tell me"], "text": "All of it."}]));
    let ran = task(&switchboard, &["--resume", &session]);
    assert_eq!(ran.stdout, "All of it.\n");
    assert_eq!(kinds(&switchboard, &session), ["began", "said", "answered"]);
}

#[test]
fn a_call_that_had_begun_is_not_run_again_and_the_model_is_told() {
    let turns = json!([
        {"calls": [write("late", "a")]},
        {"expect": [UNKNOWN], "calls": [write("echo", "b")]},
        {"expect": ["wrote b"], "text": "I looked first."},
    ]);
    let switchboard = late(&json!({}), &turns);
    let mut running = begin(&switchboard);
    wait_for_text(&switchboard.path("journal"), "write a\n");
    running.kill();
    let ran = task(&switchboard, &["--allow", "*", "--resume", "last"]);
    assert_eq!(ran.stdout, "I looked first.\n");
    assert!(ran.stderr.contains("1 of its calls may have run"), "{ran:?}");
    assert_eq!(written_lines(&switchboard), ["a", "b"]);
    let recorded = ["tool late/write: unknown (host_crash)", "tool echo/write: ok"];
    assert_eq!(switchboard.recorded_calls(), recorded);
}

#[test]
fn a_call_whose_record_is_gone_is_not_run_again() {
    let turns = json!([
        {"calls": [write("late", "a")]},
        {"expect": [UNKNOWN, "its record was lost"], "text": "I looked first."},
    ]);
    for is_seen_before in [false, true] {
        let switchboard = late(&json!({}), &turns);
        let mut running = begin(&switchboard);
        wait_for_text(&switchboard.path("journal"), "write a\n");
        running.kill();
        let record = switchboard.folder().join("own/state/record");
        for name in ["calls.db", "calls.db-wal", "calls.db-shm"] {
            std::fs::remove_file(record.join(name)).ok();
        }
        std::fs::remove_dir_all(record.join("journal")).unwrap();
        // The first process to run creates a new record.
        if is_seen_before {
            assert_eq!(switchboard.json(&["calls"]), json!([]));
        }
        let ran = task(&switchboard, &["--allow", "*", "--resume", "last"]);
        assert_eq!(ran.stdout, "I looked first.\n");
        assert_eq!(written_lines(&switchboard), ["a"]);
    }
}

#[test]
fn between_the_calls_of_a_message_each_runs_once() {
    let turns = json!([
        {"calls": [write("echo", "a"), write("late", "b"), write("echo", "c")]},
        {"expect": ["wrote a", UNKNOWN, "wrote c"], "text": "All three are told."},
    ]);
    let switchboard = late(&json!({}), &turns);
    let mut running = begin(&switchboard);
    wait_for_text(&switchboard.path("journal"), "write b\n");
    running.kill();
    let ran = task(&switchboard, &["--allow", "*", "--resume", "last"]);
    assert_eq!(ran.stdout, "All three are told.\n");
    assert_eq!(written_lines(&switchboard), ["a", "b", "c"]);
}

#[test]
fn calls_that_ran_side_by_side_are_not_run_again() {
    let turns = json!([
        {"calls": [write("late", "a"), write("echo", "b"), write("late", "c")]},
        {"expect": [UNKNOWN, "wrote b"], "text": "I know of one."},
    ]);
    let switchboard = late(&json!({"chat": {"calls": "parallel"}}), &turns);
    let mut running = begin(&switchboard);
    for key in ["a", "b", "c"] {
        wait_for_text(&switchboard.path("journal"), &format!("write {key}\n"));
    }
    running.wait_for("wrote b");
    running.kill();
    let ran = task(&switchboard, &["--allow", "*", "--resume", "last"]);
    assert_eq!(ran.stdout, "I know of one.\n");
    let mut all = written_lines(&switchboard);
    all.sort();
    assert_eq!(all, ["a", "b", "c"]);
    let told = results(&switchboard, &last_session(&switchboard));
    assert_eq!(told.iter().filter(|text| text.starts_with(UNKNOWN)).count(), 2, "{told:?}");
}

#[test]
fn a_result_that_came_in_time_is_known_to_the_next_process() {
    let turns = json!([
        {"calls": [write("echo", "a")]},
        {"expect": ["wrote a"], "text": "The second question.", "delayMs": 1000},
    ]);
    let switchboard = late(&json!({}), &turns);
    let mut running = begin(&switchboard);
    running.wait_for("wrote a");
    running.kill();
    let ran = task(&switchboard, &["--allow", "*", "--resume", "last"]);
    assert_eq!(ran.stdout, "The second question.\n");
    assert_eq!(written_lines(&switchboard), ["a"]);
    assert_eq!(switchboard.recorded_calls(), ["tool echo/write: ok"]);
}

#[test]
fn words_for_a_conversation_that_was_left_in_the_middle_wait_for_its_step() {
    let turns = json!([
        {"calls": [write("late", "a")]},
        // The model may be asked once before the message has arrived.
        {"expect": ["be careful"], "text": "I am.", "or": {"expect": [UNKNOWN], "text": "I wait."}},
        {"expect": ["be careful"], "text": "I am."},
    ]);
    let switchboard = late(&json!({}), &turns);
    let mut running = begin(&switchboard);
    wait_for_text(&switchboard.path("journal"), "write a\n");
    running.kill();
    let ran = task(&switchboard, &["--allow", "*", "--resume", "last", "be careful"]);
    assert!(ran.stdout.ends_with("I am.\n"), "{ran:?}");
    assert_eq!(written_lines(&switchboard), ["a"]);
    let told = results(&switchboard, &last_session(&switchboard));
    assert!(told[0].starts_with(UNKNOWN), "{told:?}");
}

/// Returns how often a title occurs in the store.
fn issues(store: &Path, title: &str) -> usize {
    let text = std::fs::read_to_string(store).unwrap_or_default();
    let issues = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    issues.filter(|issue| issue["title"] == title).count()
}

#[test]
fn killed_at_any_moment_every_effect_is_there_once_or_told_as_unknown() {
    const TURNS: usize = 14;
    let title = |turn: usize, call: usize| format!("issue {turn}-{call}");
    let turn = |turn: usize| {
        let call = |call| {
            let arguments = json!({"owner": "o", "repo": "r", "title": title(turn, call)});
            json!({"name": "github__create_issue", "arguments": arguments})
        };
        let calls: Vec<Value> = (1..=2).map(call).collect();
        json!({"text": format!("Step {turn}."), "calls": calls, "delayMs": 20})
    };
    let mut turns: Vec<Value> = (1..=TURNS).map(turn).collect();
    turns.push(json!({"text": "All is done."}));
    let switchboard = Switchboard::new();
    let store = switchboard.path("store");
    let entry = fixture(&["github", "--store", store.to_str().unwrap()]);
    let settings = json!({"chat": {"unaskedLimit": 1000}});
    let config = json!({"mcpServers": {"github": entry}, "settings": settings});
    configure(&switchboard, &config, &json!(turns));

    let mut running = begin(&switchboard);
    running.wait_for("\"event\":\"asking\"");
    let mut moments = Vec::new();
    for _ in 0..12 {
        running.wait_for("\"event\":\"session\"");
        let moment = RandomState::new().build_hasher().finish() % 120;
        moments.push(moment);
        // A random moment of death, not a wait for an event.
        std::thread::sleep(Duration::from_millis(moment));
        running.kill();
        running = switchboard.start(&["run", "--allow", "*", "--json", "--resume", "last"]);
    }
    let ran = running.finish_within(SOON);
    assert!(ran.code == 0 && ran.stdout.contains("turn_ended"), "{moments:?}: {ran:?}");
    let session = last_session(&switchboard);
    let told = results(&switchboard, &session);
    assert_eq!(told.len(), 2 * TURNS, "{moments:?}");
    let titles = (1..=TURNS).flat_map(|turn| [title(turn, 1), title(turn, 2)]);
    for (title, told) in titles.zip(&told) {
        let count = issues(&store, &title);
        let fits = match count {
            0 => told.starts_with(UNKNOWN),
            1 => told.starts_with(UNKNOWN) || told.starts_with("Created issue"),
            _ => false,
        };
        assert!(fits, "`{title}` is there {count} times, told {told:?}; killed after {moments:?}");
    }
}

#[cfg(target_os = "linux")]
mod at_a_terminal {
    use serde_json::json;

    use super::{SOON, UNKNOWN, late, write, written_lines};
    use crate::running::{poll, wait_for_text};
    use crate::scripted::{last_session, results, scripted_home};
    use crate::terminal::Terminal;

    const MENU: &str = "[e] edit the arguments";

    #[test]
    fn a_question_that_was_never_answered_is_put_again() {
        let turns = json!([
            {"calls": [write("echo", "a"), write("echo", "b")]},
            {"expect": ["wrote a", "wrote b"], "text": "Both."},
        ]);
        let switchboard = late(&json!({}), &turns);
        let mut terminal = Terminal::open(&switchboard, &["chat"]);
        terminal.line("Write");
        terminal.wait_for(MENU);
        terminal.say("r");
        terminal.wait_for("\"key\": \"b\"");
        terminal.wait_for(MENU);
        terminal.kill();
        assert_eq!(written_lines(&switchboard), ["a"]);
        let mut terminal = Terminal::open(&switchboard, &["chat", "--resume"]);
        terminal.wait_for("\"key\": \"b\"");
        terminal.wait_for(MENU);
        terminal.say("r");
        terminal.wait_for("Both.");
        terminal.line("/quit");
        assert_eq!(terminal.finish().0, 0);
        assert_eq!(written_lines(&switchboard), ["a", "b"]);
    }

    #[test]
    fn a_question_is_put_again_even_if_another_call_was_recorded_meanwhile() {
        let echo = json!({"name": "echo__echo", "arguments": {"text": "beside it"}});
        let turns = json!([
            {"calls": [write("echo", "a"), echo]},
            {"expect": ["wrote a", "beside it"], "text": "Both."},
        ]);
        let switchboard = late(&json!({"chat": {"calls": "parallel"}}), &turns);
        let words = ["chat", "--allow", "echo/echo"];
        let mut terminal = Terminal::open(&switchboard, &words);
        terminal.line("Write");
        terminal.wait_for(MENU);
        // The other call ends while the question is open, and its end is stored.
        let ended = || {
            let session = last_session(&switchboard);
            (!results(&switchboard, &session).is_empty()).then_some(())
        };
        assert!(poll(SOON, ended).is_some(), "the other call does not end");
        terminal.kill();
        let mut terminal = Terminal::open(&switchboard, &[&words[..], &["--resume"]].concat());
        terminal.wait_for("\"key\": \"a\"");
        terminal.wait_for(MENU);
        terminal.say("r");
        terminal.wait_for("Both.");
        terminal.line("/quit");
        assert_eq!(terminal.finish().0, 0);
        assert_eq!(written_lines(&switchboard), ["a"]);
    }

    #[test]
    fn a_chat_goes_on_by_itself_and_then_listens() {
        let turns = json!([
            {"calls": [write("late", "a")]},
            {"expect": [UNKNOWN], "text": "I look first."},
            {"expect": ["thanks"], "text": "You are welcome."},
        ]);
        let switchboard = late(&json!({}), &turns);
        let mut terminal = Terminal::open(&switchboard, &["chat", "--allow", "*"]);
        terminal.line("Write");
        wait_for_text(&switchboard.path("journal"), "write a\n");
        terminal.kill();
        let mut terminal = Terminal::open(&switchboard, &["chat", "--resume"]);
        terminal.wait_for("1 of its calls may have run");
        terminal.wait_for("✗ late/write: unknown");
        terminal.wait_for("I look first.");
        terminal.line("thanks");
        terminal.wait_for("You are welcome.");
        terminal.line("/quit");
        assert_eq!(terminal.finish().0, 0);
        assert_eq!(written_lines(&switchboard), ["a"]);
    }

    #[test]
    fn the_question_whether_to_go_on_is_put_again() {
        let mistake =
            |number| json!({"calls": [{"name": format!("no_such_{number}"), "arguments": {}}]});
        let turns = json!([mistake(1), mistake(2), mistake(3), {"text": "Going on."}]);
        let switchboard = scripted_home(&json!({}), &turns);
        let mut terminal = Terminal::open(&switchboard, &["chat"]);
        terminal.line("Try");
        terminal.wait_for("or type instructions: ");
        terminal.kill();
        let mut terminal = Terminal::open(&switchboard, &["chat", "--resume"]);
        terminal.wait_for("or type instructions: ");
        terminal.say("y\n");
        terminal.wait_for("Going on.");
        terminal.line("/quit");
        assert_eq!(terminal.finish().0, 0);
    }

    #[test]
    fn a_call_that_was_left_running_is_recorded_and_not_run_again() {
        let turns = json!([
            {"calls": [write("late", "a")]},
            {"expect": ["Cancelled before it ended"], "text": "I look first."},
        ]);
        let switchboard = late(&json!({}), &turns);
        let mut terminal = Terminal::open(&switchboard, &["chat", "--allow", "*"]);
        terminal.line("Write");
        wait_for_text(&switchboard.path("journal"), "write a\n");
        crate::terminal::signal(terminal.pid(), "TERM");
        terminal.finish();
        assert_eq!(switchboard.recorded_calls(), ["tool late/write: cancelled (by_caller)"]);
        let mut terminal = Terminal::open(&switchboard, &["chat", "--resume", "--allow", "*"]);
        terminal.wait_for("I look first.");
        terminal.line("/quit");
        assert_eq!(terminal.finish().0, 0);
        assert_eq!(written_lines(&switchboard), ["a"]);
    }
}
