//! Tests of questions to a person, which outlive their terminal and are answered from another
//! process.

use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

#[cfg(target_os = "linux")]
use crate::running::assert_gone;
use crate::running::{Ran, RunningProcess, TEST_TIMEOUT, is_alive, poll};
use crate::switchboard::{Switchboard, fixture};
#[cfg(target_os = "linux")]
use crate::terminal::{CTRL_C, Terminal};
use crate::transcript::transcript;

const CALL: [&str; 5] = ["call", "echo", "echo", "text=hey", "--review"];
const PATIENTLY: [&str; 6] = ["call", "echo", "echo", "text=hey", "--review", "--wait-for-review"];

/// End of the menu: once it is shown, the program reads keys.
#[cfg(target_os = "linux")]
const MENU: &str = "[e] edit the arguments";

fn echo() -> Switchboard {
    Switchboard::with(&json!({"echo": fixture(&["echo"])}))
}

/// Waits for an entry in the review queue, and returns it.
fn waits(switchboard: &Switchboard) -> Value {
    let listed = || {
        let listed = switchboard.json(&["review"]);
        listed.get(0).cloned()
    };
    poll(TEST_TIMEOUT, listed).expect("something waits")
}

fn id(entry: &Value) -> &str {
    entry["id"].as_str().unwrap()
}

fn answer(switchboard: &Switchboard, entry: &Value, words: &[&str]) -> Ran {
    switchboard.run(&[&["review", "answer", id(entry)], words].concat())
}

#[test]
fn a_call_waits_for_the_answer_of_another_process() {
    for (words, code, printed, recorded) in [
        (vec!["run"], 0, "hey\n", "ok"),
        (vec!["run", "--json-args", r#"{"text": "you"}"#], 0, "you\n", "ok"),
        (vec!["skip"], 5, "", "rejected (person)"),
        (vec!["reject", "--tell", "add the numbers"], 5, "", "rejected (person)"),
    ] {
        let switchboard = echo();
        let calling = switchboard.start(&PATIENTLY);
        let entry = waits(&switchboard);
        assert_eq!(entry["kind"], "review");
        assert_eq!([&entry["server"], &entry["target"]], ["echo", "echo"]);
        assert_eq!(entry["arguments"], r#"{"text":"hey"}"#);
        assert_eq!(entry["process"], json!(calling.pid()));
        assert_eq!(entry["caller"], "cli, model:review");
        answer(&switchboard, &entry, &words).expect(0);
        let ran = calling.finish_within(TEST_TIMEOUT).expect(code);
        assert_eq!(ran.stdout, printed, "{words:?}");
        let told = format!("`echo/echo` needs approval: `switchboard review show {}`", id(&entry));
        assert!(ran.stderr.starts_with(&told), "{ran:?}");
        assert!(ran.stderr.contains("(answered elsewhere: `"), "{ran:?}");
        assert_eq!(switchboard.recorded_calls(), [format!("tool echo/echo: {recorded}")]);
        assert_eq!(switchboard.json(&["review"]), json!([]));
    }
}

#[test]
fn always_from_elsewhere_is_kept_by_the_process_that_asked() {
    let switchboard = Switchboard::new();
    let config =
        json!({"mcpServers": {"echo": fixture(&["echo"])}, "settings": {"autoApprove": true}});
    switchboard.write_config(&config.to_string());
    let calling = switchboard.start(&PATIENTLY);
    answer(&switchboard, &waits(&switchboard), &["always"]).expect(0);
    calling.finish_within(TEST_TIMEOUT).expect(0);
    // No one is there to answer, and no answer is needed.
    switchboard.run(&CALL).expect(0);
}

#[test]
fn a_form_is_filled_in_from_another_process_in_both_eras() {
    for era in ["legacy", "modern"] {
        let switchboard = Switchboard::with(&json!({"echo": fixture(&["echo", "--era", era])}));
        let words = ["call", "echo", "ask", "question=Which colour?", "--wait-for-review"];
        let calling = switchboard.start(&words);
        let entry = waits(&switchboard);
        assert_eq!(entry["kind"], "form", "{era}");
        assert_eq!([&entry["server"], &entry["target"]], ["echo", "ask"], "{era}");
        assert_eq!(entry["message"], "Which colour?", "{era}");
        assert_eq!(entry["call"], "1", "{era}");
        for (words, problem) in [
            (vec!["run"], "answer with accept, decline or cancel"),
            (vec!["accept"], "`answer` is required"),
            (vec!["accept", "--field", "colour=green"], "the form has no field `colour`"),
        ] {
            let refused = answer(&switchboard, &entry, &words).expect(2);
            assert!(refused.stderr.contains(problem), "{era}: {refused:?}");
        }
        answer(&switchboard, &entry, &["accept", "--field", "answer=green"]).expect(0);
        assert_eq!(calling.finish_within(TEST_TIMEOUT).expect(0).stdout, "green\n", "{era}");
        assert_eq!(switchboard.recorded_calls(), ["tool echo/ask: ok"], "{era}");
    }
}

#[test]
fn of_several_processes_that_answer_at_once_one_is_told_yes() {
    let switchboard = echo();
    let calling = switchboard.start(&PATIENTLY);
    let entry = waits(&switchboard);
    let answering: Vec<RunningProcess> = (0..8)
        .map(|number| {
            let tell = number.to_string();
            switchboard.start(&["review", "answer", id(&entry), "reject", "--tell", &tell])
        })
        .collect();
    let ran: Vec<Ran> = answering.into_iter().map(|one| one.finish_within(TEST_TIMEOUT)).collect();
    let won: Vec<usize> = (0..ran.len()).filter(|at| ran[*at].code == 0).collect();
    let [winner] = won[..] else { panic!("{ran:?}") };
    for (number, lost) in ran.iter().enumerate().filter(|(number, _)| *number != winner) {
        assert_eq!(lost.code, 4, "{number}: {lost:?}");
        assert!(lost.stderr.contains("already answered by `switchboard review`"), "{lost:?}");
    }
    let ran = calling.finish_within(TEST_TIMEOUT).expect(5);
    assert!(ran.stderr.contains(&format!("error: {winner}\n")), "{ran:?}");
}

#[test]
fn what_a_killed_process_waited_for_is_withdrawn() {
    let switchboard = echo();
    let mut calling = switchboard.start(&PATIENTLY);
    let entry = waits(&switchboard);
    calling.kill();
    assert_eq!(switchboard.json(&["review"]), json!([]));
    let late = answer(&switchboard, &entry, &["run"]).expect(4);
    insta::assert_snapshot!(transcript(&late), @"
    exit status 4
    --- stderr
    error: `[id]` is no longer pending: it was withdrawn: the process that asked has ended
    ");
    assert_eq!(switchboard.json(&["review", "show", id(&entry)])["state"], "withdrawn");
}

#[test]
fn ctrl_c_takes_back_what_waits() {
    let switchboard = echo();
    let calling = switchboard.start(&PATIENTLY);
    let entry = waits(&switchboard);
    calling.interrupt();
    calling.finish_within(TEST_TIMEOUT).expect(130);
    assert_eq!(switchboard.json(&["review"]), json!([]));
    answer(&switchboard, &entry, &["run"]).expect(4);
    assert_eq!(switchboard.recorded_calls(), ["tool echo/echo: cancelled (by_caller)"]);
}

#[test]
fn what_nobody_answers_expires() {
    let switchboard = echo();
    let ran = switchboard.run(&[&CALL[..], &["--wait-for-review=1s"]].concat()).expect(5);
    insta::assert_snapshot!(transcript(&ran), @"
    exit status 5
    --- stderr
    `echo/echo` needs approval: `switchboard review show [id]`, then `switchboard review answer [id] run` or `skip`
    (the question expired)
    error: the review of `echo/echo` was not answered within a second
    hint: `settings.reviewMinutes` sets how long a review waits
    ");
    assert_eq!(switchboard.recorded_calls(), ["tool echo/echo: denied (unanswered)"]);
    let words = ["call", "echo", "ask", "question=Which colour?", "--wait-for-review=1s"];
    assert_eq!(switchboard.run(&words).expect(0).stdout, "no answer: cancel\n");
}

#[test]
fn an_answer_to_something_else_is_refused() {
    let switchboard = echo();
    let mut calling = switchboard.start(&PATIENTLY);
    let entry = waits(&switchboard);
    let digest: String = entry["digest"].as_str().unwrap().chars().take(12).collect();
    let wrong = answer(&switchboard, &entry, &["run", "--digest", "00000000"]).expect(2);
    insta::assert_snapshot!(transcript(&wrong), @"
    exit status 2
    --- stderr
    error: digest mismatch for `[id]`: the answer is for another request
    hint: review it again, then answer
    ");
    assert_eq!(waits(&switchboard), entry);
    answer(&switchboard, &entry, &["run", "--digest", &digest]).expect(0);
    let ended = poll(TEST_TIMEOUT, || (!is_alive(calling.pid())).then_some(()));
    assert!(ended.is_some());
    calling.kill();
    let unknown = switchboard.run(&["review", "answer", "none", "run"]).expect(2);
    insta::assert_snapshot!(transcript(&unknown), @"
    exit status 2
    --- stderr
    error: no pending request named `none`
    hint: list the pending requests with `switchboard review`
    ");
}

#[test]
fn a_call_that_needs_no_person_opens_no_queue() {
    let switchboard = echo();
    switchboard.run(&["call", "echo", "echo", "text=hey"]).expect(0);
    switchboard.run(&CALL).expect(5);
    assert_eq!(switchboard.run(&["review"]).expect(0).stderr, "no pending reviews\n");
    let record = switchboard.path("").parent().unwrap().parent().unwrap().join("own");
    let found = Command::new("find").arg(record).args(["-name", "waiting.db*"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&found.stdout), "");
}

#[test]
fn a_watcher_sees_what_comes_and_goes() {
    let switchboard = echo();
    let watching = switchboard.start(&["review", "--watch", "--json"]);
    watching.wait_for("[]\n");
    let calling = switchboard.start(&PATIENTLY);
    let entry = waits(&switchboard);
    watching.wait_for(&format!(r#""id":"{}""#, id(&entry)));
    answer(&switchboard, &entry, &["run"]).expect(0);
    calling.finish_within(TEST_TIMEOUT).expect(0);
    watching.interrupt();
    let ran = watching.finish_within(TEST_TIMEOUT).expect(0);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!((lines.len(), lines[0], lines[2]), (3, "[]", "[]"), "{ran:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn the_menu_goes_away_when_somebody_else_was_faster() {
    let switchboard = echo();
    let mut terminal = Terminal::open(&switchboard, &CALL);
    terminal.wait_for(MENU);
    answer(&switchboard, &waits(&switchboard), &["run"]).expect(0);
    terminal.wait_for("(question withdrawn)");
    terminal.wait_for("(answered elsewhere: `run`, by `switchboard review` in process ");
    let (code, rest) = terminal.finish();
    assert_eq!(code, 0, "{rest:?}");
    assert!(rest.ends_with("hey\n"), "{rest:?}");
    assert_eq!(switchboard.recorded_calls(), ["tool echo/echo: ok"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_form_goes_away_when_somebody_else_was_faster() {
    let switchboard = echo();
    let mut terminal = Terminal::open(&switchboard, &["call", "echo", "ask", "question=Which?"]);
    terminal.wait_for("| Which?");
    let entry = waits(&switchboard);
    answer(&switchboard, &entry, &["accept", "--field", "answer=green"]).expect(0);
    terminal.wait_for("(answered elsewhere: `accept`");
    let (code, rest) = terminal.finish();
    assert_eq!((code, rest.ends_with("green\n")), (0, true), "{rest:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn whoever_sits_at_the_terminal_answers_what_waits_elsewhere() {
    let switchboard = echo();
    let calling = switchboard.start(&PATIENTLY);
    waits(&switchboard);
    let mut terminal = Terminal::open(&switchboard, &["review"]);
    terminal.wait_for("Run echo on echo?");
    terminal.wait_for(MENU);
    terminal.press("r", "answered `");
    assert_eq!(terminal.finish().0, 0);
    assert_eq!(calling.finish_within(TEST_TIMEOUT).expect(0).stdout, "hey\n");

    let asking = ["call", "echo", "ask", "question=Which colour?", "--wait-for-review"];
    let asking = switchboard.start(&asking);
    waits(&switchboard);
    let mut terminal = Terminal::open(&switchboard, &["review"]);
    terminal.wait_for("| Which colour?");
    terminal.wait_for("> ");
    terminal.say(CTRL_C);
    // Leaving a form is neither consent nor refusal; it is answered with `cancel`.
    assert_eq!(terminal.finish().0, 0);
    let ran = asking.finish_within(TEST_TIMEOUT).expect(0);
    assert_eq!(ran.stdout, "no answer: cancel\n");
}

/// A program whose terminal was closed; it is ended when the value is dropped.
#[cfg(target_os = "linux")]
struct Orphan(u32);

#[cfg(target_os = "linux")]
impl Drop for Orphan {
    fn drop(&mut self) {
        if is_alive(self.0) {
            crate::terminal::signal(self.0, "KILL");
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn what_waits_outlives_its_terminal() {
    let ask = ["call", "echo", "ask", "question=Which?"];
    for (words, question, said, recorded) in [
        (&CALL[..], MENU, vec!["run"], "tool echo/echo: ok"),
        (&CALL[..], MENU, vec!["skip"], "tool echo/echo: rejected (person)"),
        (&ask[..], "| Which?", vec!["accept", "--field", "answer=green"], "tool echo/ask: ok"),
    ] {
        let switchboard = echo();
        let mut terminal = Terminal::open(&switchboard, words);
        terminal.wait_for(question);
        let entry = waits(&switchboard);
        let orphan = Orphan(terminal.hang_up());
        // The hang-up has been delivered when the terminal is gone; the call still waits.
        std::thread::sleep(Duration::from_millis(500));
        assert!(is_alive(orphan.0), "{words:?}: it ended with its terminal");
        assert_eq!(waits(&switchboard), entry);
        answer(&switchboard, &entry, &said).expect(0);
        assert_gone(orphan.0, TEST_TIMEOUT);
        assert_eq!(switchboard.recorded_calls(), [recorded]);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_program_that_waits_for_nobody_ends_with_its_terminal() {
    let switchboard = echo();
    let mut terminal = Terminal::open(&switchboard, &["call", "echo", "slow", "ms=60000"]);
    terminal.wait_for("calling");
    let orphan = Orphan(terminal.hang_up());
    assert_gone(orphan.0, Duration::from_secs(20));
}

/// Returns a home with a model that writes with a tool and then reports the result.
#[cfg(target_os = "linux")]
const SCRIPT: &str = r#"{"turns": [
    {"calls": [{"name": "echo__echo", "arguments": {"text": "hey"}}]},
    {"expect": ["hey"], "text": "It is said.", "or": {"text": "It is not said."}}
]}"#;

#[cfg(target_os = "linux")]
#[test]
fn a_conversation_goes_on_after_its_terminal_was_closed() {
    for words in [vec!["chat"], vec!["run", "hello"]] {
        let switchboard = echo();
        switchboard.write("script.json", SCRIPT);
        let model = ["--model", "scripted:script.json"];
        let mut terminal = Terminal::open(&switchboard, &[&words[..], &model[..]].concat());
        if words == ["chat"] {
            terminal.line("hello");
        }
        terminal.wait_for(MENU);
        let entry = waits(&switchboard);
        assert!(entry["reference"].is_string(), "{entry}");
        let orphan = Orphan(terminal.hang_up());
        std::thread::sleep(Duration::from_millis(500));
        answer(&switchboard, &entry, &["run"]).expect(0);
        assert_gone(orphan.0, TEST_TIMEOUT);
        assert_eq!(switchboard.recorded_calls(), ["tool echo/echo: ok"], "{words:?}");
        let shown = switchboard.run(&["sessions", "show", "last"]).expect(0);
        assert!(shown.stdout.contains("It is said."), "{words:?}: {shown:?}");
    }
}
