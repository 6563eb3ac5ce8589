//! Tests of questions during calls that `serve` makes for a terminal: they are shown at that
//! terminal.

use serde_json::{Value, json};

use crate::console_person::Person;
use crate::running::{Ran, TEST_TIMEOUT, poll, started_pids};
use crate::scripted::scripted_home;
use crate::serve_client::until;
use crate::switchboard::{Switchboard, fixture};
use crate::terminal::Terminal;

const CALL: [&str; 5] = ["call", "echo", "echo", "text=hey", "--review"];
/// End of the menu: once it is shown, the program reads keys.
const MENU: &str = "[e] edit the arguments";

fn serve_home(era: &str) -> (Switchboard, Person) {
    let switchboard = Switchboard::new();
    let trace = switchboard.text_path("trace");
    let entry = fixture(&["echo", "--era", era, "--trace", &trace]);
    switchboard.configure(&json!({ "echo": entry }));
    let person = Person::at(&switchboard, &[]);
    until(|| person.ask("servers/echo")["state"] == "ready");
    (switchboard, person)
}

fn check_started_once(switchboard: &Switchboard) {
    assert_eq!(started_pids(&switchboard.path("trace")).len(), 1);
}

/// Waits for an entry in the review queue, and returns it.
fn waits(person: &Person) -> Value {
    poll(TEST_TIMEOUT, || person.ask("reviews").get(0).cloned()).expect("something waits")
}

#[test]
fn running_calls_are_reviewed_at_the_terminal_they_were_typed_in() {
    let (switchboard, _person) = serve_home("modern");
    let ran = switchboard.run_typed(&CALL, &[(MENU, "r")]).expect(0);
    for part in ["Run echo on echo?", r#""text": "hey""#, "risk ", "[o] only this session"] {
        assert!(ran.stdout.contains(part), "no `{part}` in {ran:?}");
    }
    assert!(ran.stdout.ends_with("hey\r\n"), "{ran:?}");
    let own = switchboard.run_typed(&[&CALL[..], &["--no-running"]].concat(), &[(MENU, "r")]);
    // Spinner frames before the question vary with time.
    let question = |ran: &Ran| ran.stdout.split_once("Run echo").map(|(_, on)| on.to_owned());
    assert_eq!(question(&ran), question(&own.expect(0)));
    switchboard.run_typed(&CALL, &[(MENU, "s")]).expect(5);
    let told = [(MENU, "t"), ("instead?", "add the numbers\n")];
    let rejected = switchboard.run_typed(&CALL, &told).expect(5);
    assert!(rejected.stdout.contains("error: add the numbers"), "{rejected:?}");
    let left = switchboard.run_typed(&CALL, &[(MENU, "\u{3}")]).expect(130);
    assert!(!left.stdout.ends_with("hey\r\n"), "{left:?}");
    let expected = [
        "tool echo/echo: ok",
        "tool echo/echo: ok",
        "tool echo/echo: rejected (person)",
        "tool echo/echo: rejected (person)",
        "tool echo/echo: cancelled (by_caller)",
    ];
    assert_eq!(switchboard.recorded_calls(), expected);
}

#[test]
fn running_calls_are_sessions_of_their_own() {
    let (switchboard, _person) = serve_home("modern");
    for _ in 0..2 {
        switchboard.run_typed(&CALL, &[(MENU, "o")]).expect(0);
    }
    switchboard.run(&CALL).expect(5);
    check_started_once(&switchboard);
}

#[test]
fn running_calls_that_are_always_allowed_are_remembered_in_the_file() {
    let (switchboard, _person) = serve_home("modern");
    switchboard.run_typed(&CALL, &[(MENU, "a")]).expect(0);
    let config: Value = serde_json::from_str(&switchboard.config_text()).unwrap();
    assert_eq!(config["mcpServers"]["echo"]["autoApprove"], json!(["echo"]));
}

#[test]
fn running_calls_are_answered_by_whoever_is_first() {
    let (switchboard, person) = serve_home("modern");
    let mut terminal = Terminal::open(&switchboard, &CALL);
    terminal.wait_for(MENU);
    let entry = waits(&person);
    assert_eq!(entry["caller"], "cli, model:review");
    let path = format!("reviews/{}/answer", entry["id"].as_str().unwrap());
    let reply = person.act(&path, &json!({"digest": entry["digest"], "answer": "run"}));
    assert_eq!(reply.status, 200, "{reply:?}");
    terminal.wait_for("(question withdrawn)");
    terminal.wait_for("(answered elsewhere: `run`, by the console)");
    let (code, shown) = terminal.finish();
    assert_eq!((code, shown.trim()), (0, "hey"));
    check_started_once(&switchboard);
}

#[test]
fn running_calls_outlive_a_terminal_while_they_wait_for_somebody() {
    let (switchboard, person) = serve_home("modern");
    let mut terminal = Terminal::open(&switchboard, &CALL);
    terminal.wait_for(MENU);
    terminal.hang_up();
    let entry = waits(&person);
    let path = format!("reviews/{}/answer", entry["id"].as_str().unwrap());
    let reply = person.act(&path, &json!({"digest": entry["digest"], "answer": "run"}));
    assert_eq!(reply.status, 200, "{reply:?}");
    until(|| switchboard.recorded_calls() == ["tool echo/echo: ok"]);
}

#[test]
fn running_calls_have_forms_filled_in_at_the_terminal() {
    let words = ["call", "echo", "ask", "question=Which colour?"];
    for era in ["legacy", "modern"] {
        let (switchboard, _person) = serve_home(era);
        let answers = [("| Which colour?", "green\r"), ("Send it?", "y\r")];
        let ran = switchboard.run_typed(&words, &answers).expect(0);
        assert!(ran.stdout.contains("asks you, for ask (call 1):"), "{era}: {ran:?}");
        assert!(ran.stdout.ends_with("green\r\n"), "{era}: {ran:?}");
        for (answer, expected) in [("!decline\r", "decline"), ("\u{1b}", "cancel")] {
            let ran = switchboard.run_typed(&words, &[("| Which colour?", answer)]).expect(0);
            let expected = format!("no answer: {expected}\r\n");
            assert!(ran.stdout.ends_with(&expected), "{era}: {ran:?}");
        }
        check_started_once(&switchboard);
        assert_eq!(switchboard.recorded_calls(), ["tool echo/ask: ok"; 3], "{era}");
    }
}

#[test]
fn running_calls_have_forms_taken_back_that_somebody_else_filled_in() {
    let (switchboard, person) = serve_home("modern");
    let words = ["call", "echo", "ask", "question=Which colour?"];
    let mut terminal = Terminal::open(&switchboard, &words);
    terminal.wait_for("| Which colour?");
    let entry = waits(&person);
    let name = entry["wanted"]["order"][0].as_str().unwrap_or("answer").to_owned();
    let body = json!({"digest": entry["digest"], "answer": "accept", "content": {name: "blue"}});
    let path = format!("reviews/{}/answer", entry["id"].as_str().unwrap());
    let reply = person.act(&path, &body);
    assert_eq!(reply.status, 200, "{reply:?} {entry}");
    terminal.wait_for("(the server withdrew its question)");
    terminal.wait_for("(answered elsewhere: `accept`, by the console)");
    let (code, shown) = terminal.finish();
    assert_eq!((code, shown.trim()), (0, "blue"));
}

#[test]
fn running_calls_ask_the_model_only_with_the_consent_of_the_terminal() {
    let mut entry = fixture(&["asker", "--era", "legacy"]);
    entry["sampling"] = json!(true);
    let turns = json!([{"text": "Hello, server."}]);
    let switchboard = scripted_home(&json!({"mcpServers": {"asker": entry}}), &turns);
    let person = Person::at(&switchboard, &[]);
    until(|| person.ask("servers/asker")["state"] == "ready");
    let said = json!([{"role": "user", "content": {"type": "text", "text": "Hi"}}]);
    let request = format!("request:={}", json!({"messages": said, "maxTokens": 50}));
    let words = ["call", "asker", "sample", &request];
    for (answer, expected) in [("n\r", "declined"), ("y\r", "Hello, server.")] {
        let ran = switchboard.run_typed(&words, &[("Ask the model?", answer)]);
        assert!(ran.stdout.contains("Server asker wants to ask the model main"), "{ran:?}");
        assert!(ran.stdout.contains("  | Hi\r\n"), "{ran:?}");
        assert!(ran.stdout.contains(expected), "{ran:?}");
    }
}

#[test]
fn running_calls_show_how_far_they_are() {
    let (switchboard, _person) = serve_home("modern");
    let words = ["call", "echo", "slow", "ms=3000", "steps=6"];
    let ran = switchboard.run_typed(&words, &[]).expect(0);
    assert!(ran.stdout.contains("calling echo/slow"), "{ran:?}");
    assert!(ran.stdout.contains("50%"), "{ran:?}");
    check_started_once(&switchboard);
}
