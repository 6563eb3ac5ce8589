//! Tests of calls in a home in which `serve` runs: `serve` makes them, and the caller sees no
//! difference.

use std::time::Duration;

use serde_json::{Value, json};

use crate::console_person::Person;
use crate::running::{
    Ran, RunningProcess, TEST_TIMEOUT, is_alive, poll, started_pids, wait_for_text,
};
use crate::serve_client::until;
use crate::switchboard::{Switchboard, fixture};
use crate::transcript::transcript;

/// Returns a home with one server in which `serve` runs.
fn serve_home(era: &str, arguments: &[&str]) -> (Switchboard, Person) {
    let switchboard = Switchboard::new();
    let journal = switchboard.text_path("journal");
    let trace = switchboard.text_path("trace");
    let words = ["echo", "--era", era, "--journal", &journal, "--trace", &trace];
    switchboard.configure(&json!({"echo": fixture(&words)}));
    // Each command is a separate session, so its call is the first one.
    let denied = json!({"rules": [
        {"effect": "deny", "target": "echo/grow"},
        {"effect": "deny", "target": "echo/*", "when": "session.calls > 0"},
    ]});
    switchboard.write_policy("user", &denied);
    let person = Person::at(&switchboard, arguments);
    until(|| person.ask("servers/echo")["state"] == "ready");
    (switchboard, person)
}

fn starts(switchboard: &Switchboard) -> usize {
    started_pids(&switchboard.path("trace")).len()
}

fn arrival_count(switchboard: &Switchboard) -> usize {
    let heard = std::fs::read_to_string(switchboard.path("trace")).unwrap_or_default();
    heard.lines().filter(|line| line.contains("tools/call")).count()
}

/// Returns the output without the parts that differ from run to run.
fn plain(ran: &Ran) -> (i32, Value, String) {
    let shown = serde_json::from_str::<Value>(&ran.stdout).map(|mut shown| {
        if let Some(members) = shown.as_object_mut() {
            members.remove("id");
            members.remove("milliseconds");
        }
        shown
    });
    (ran.code, shown.unwrap_or_else(|_| json!(ran.stdout)), ran.stderr.clone())
}

/// Fails unless a command prints the same with and without the running instance, and starts servers
/// only without it.
fn check_same(switchboard: &Switchboard, words: &[&str], code: i32) {
    for words in [words.to_vec(), [words, &["--json"]].concat()] {
        let before = starts(switchboard);
        let there = switchboard.run(&words).expect(code);
        assert_eq!(starts(switchboard), before, "{words:?} started a server: {there:?}");
        let here = switchboard.run(&[&words[..], &["--no-running"]].concat());
        assert_eq!(plain(&there), plain(&here), "{words:?}");
    }
}

#[test]
fn running_calls_give_the_same_and_start_nothing() {
    for era in ["legacy", "modern"] {
        let (switchboard, _person) = serve_home(era, &[]);
        let cases: [(&[&str], i32); 20] = [
            (&["call", "echo", "echo", "text=grüße \"x\"\n"], 0),
            (&["call", "echo", "echo", "--json-args", r#"{ "text" : "a" }"#], 0),
            (&["call", "echo", "content"], 0),
            (&["call", "echo", "add", "a=1", "b=2"], 0),
            (&["call", "echo", "big", "bytes=3000000"], 0),
            (&["call", "echo", "fail", "message=bad"], 1),
            (&["call", "echo", "ecoh", "text=a"], 2),
            (&["call", "echo", "add", "a=1"], 2),
            (&["call", "echo", "add", "a:={"], 2),
            (&["call", "echo", "grow"], 5),
            (&["call", "echo", "echo", "text=a", "--review"], 5),
            (&["call", "echo", "ask", "question=Which colour?"], 0),
            (&["call", "echo", "ask", "question=Please enter your password"], 0),
            (&["resources", "read", "echo", "test://static-text"], 0),
            (&["resources", "read", "echo", "test://static-binary"], 0),
            (&["resources", "read", "echo", "test://template/7"], 0),
            (&["prompts", "get", "echo", "greet", "name=Ada"], 0),
            (&["prompts", "get", "echo", "great", "name=Ada"], 2),
            (&["complete", "echo", "greet", "name=A"], 0),
            (&["complete", "echo", "test://template/{id}", "id=1"], 0),
        ];
        for (words, code) in cases {
            check_same(&switchboard, words, code);
        }
        let other = switchboard.run(&["call", "ecoh", "echo", "text=a"]).expect(2);
        insta::allow_duplicates!(insta::assert_snapshot!(transcript(&other), @"
        exit status 2
        --- stderr
        error: unknown server `ecoh`
        hint: did you mean `echo`?
        "));
    }
}

#[test]
fn running_calls_are_recorded_as_what_was_typed_here() {
    let (switchboard, _person) = serve_home("modern", &[]);
    let recorded = |words: &[&str]| {
        switchboard.run(words);
        let newest = switchboard.json(&["calls", "--limit", "1"]);
        let mut shown = switchboard.json(&["calls", "show", newest[0]["id"].as_str().unwrap()]);
        let members = shown.as_object_mut().unwrap();
        for key in ["id", "created_at", "finished_at", "sent_at", "milliseconds", "process"] {
            members.remove(key);
        }
        shown
    };
    for words in [
        ["call", "echo", "echo", "text=a", "--quiet"],
        ["call", "echo", "echo", "text=a", "--review"],
        ["call", "echo", "fail", "message=bad", "--quiet"],
    ] {
        let there = recorded(&words);
        assert_eq!(there, recorded(&[&words[..], &["--no-running"]].concat()), "{words:?}");
        assert_eq!(there["face"], "cli", "{there}");
    }
}

#[test]
fn running_calls_have_their_files_written_here() {
    let (switchboard, _person) = serve_home("modern", &[]);
    let before = starts(&switchboard);
    let into = |file: &str, more: &[&str]| {
        let words = ["resources", "read", "echo", "test://static-binary", "--output", file];
        switchboard.run(&[&words[..], more].concat())
    };
    let told = into("there.png", &[]).expect(0);
    insta::assert_snapshot!(transcript(&told), @"
    exit status 0
    --- stderr
    wrote [work]/there.png
    ");
    into("here.png", &["--no-running"]).expect(0);
    let [there, here] =
        ["there.png", "here.png"].map(|file| std::fs::read(switchboard.path(file)).unwrap());
    assert_eq!(there, here);
    assert!(there.starts_with(b"\x89PNG"), "{there:?}");
    into("there.png", &[]).expect(5);
    into("../outside.png", &[]).expect(5);
    switchboard.run(&["call", "echo", "content", "--save", "saved"]).expect(0);
    assert!(std::fs::read_dir(switchboard.path("saved")).unwrap().count() > 0);
    assert_eq!(starts(&switchboard), before + 1, "only for whoever wants their own");
}

#[test]
fn running_calls_are_not_allowed_by_what_the_instance_allows_its_clients() {
    let (switchboard, _person) = serve_home("modern", &["--review", "client"]);
    let refused = switchboard.run(&["call", "echo", "write", "key=a", "--review"]).expect(5);
    insta::assert_snapshot!(transcript(&refused), @"
    exit status 5
    --- stderr
    error: `echo/write` needs approval, but there is no terminal to ask on
    hint: run it at a terminal or with `--wait-for-review`, or add `write` to `autoApprove` of server `echo` and turn on `settings.autoApprove`
    ");
    assert_eq!(arrival_count(&switchboard), 0);
}

#[test]
fn running_calls_wait_for_another_face_as_long_as_they_are_told() {
    let (switchboard, _person) = serve_home("modern", &[]);
    let before = starts(&switchboard);
    let words = ["call", "echo", "echo", "text=hey", "--review"];
    let late = switchboard.run(&[&words[..], &["--wait-for-review=1s"]].concat()).expect(5);
    insta::assert_snapshot!(transcript(&late), @"
    exit status 5
    --- stderr
    `echo/echo` needs approval: `switchboard review show [id]`, then `switchboard review answer [id] run` or `skip`
    (the question expired)
    error: the review of `echo/echo` was not answered within a second
    hint: `settings.reviewMinutes` sets how long a review waits
    ");
    let calling = switchboard.start(&[&words[..], &["--wait-for-review"]].concat());
    let waits = || switchboard.json(&["review"]).get(0).cloned();
    let entry = poll(TEST_TIMEOUT, waits).expect("something waits");
    let id = entry["id"].as_str().unwrap();
    switchboard.run(&["review", "answer", id, "run"]).expect(0);
    let ran = calling.finish_within(TEST_TIMEOUT).expect(0);
    assert_eq!(ran.stdout, "hey\n");
    assert!(ran.stderr.contains("(answered elsewhere: `run`, by "), "{ran:?}");
    assert_eq!(starts(&switchboard), before);
}

fn slow(switchboard: &Switchboard) -> RunningProcess {
    let before = arrival_count(switchboard);
    let calling = switchboard.start(&["call", "echo", "slow", "ms=30000"]);
    until(|| arrival_count(switchboard) > before);
    calling
}

#[test]
fn running_calls_are_given_up_with_whoever_made_them() {
    for era in ["legacy", "modern"] {
        let (switchboard, _person) = serve_home(era, &[]);
        let pid = started_pids(&switchboard.path("trace"))[0];
        for (number, signal) in ["INT", "TERM", "KILL"].into_iter().enumerate() {
            let calling = slow(&switchboard);
            calling.signal(signal);
            let ended = calling.finish_within(Duration::from_secs(5));
            if signal != "KILL" {
                assert_eq!(ended.code, 130, "{ended:?}");
                assert!(ended.stderr.contains("was cancelled"), "{ended:?}");
            }
            let cancelled = vec!["tool echo/slow: cancelled (by_caller)"; number + 1];
            until(|| switchboard.recorded_calls() == cancelled);
            let journal = switchboard.path("journal");
            let told = || {
                let told = wait_for_text(&journal, "cancelled ");
                told.lines().filter(|line| line.starts_with("cancelled ")).count() == number + 1
            };
            until(told);
        }
        assert!(is_alive(pid), "the server goes on");
        assert_eq!(starts(&switchboard), 1, "{era}");
    }
}

#[test]
fn running_calls_are_not_made_again_when_the_instance_goes_away() {
    let (switchboard, person) = serve_home("modern", &[]);
    let calling = slow(&switchboard);
    person.serving.signal("KILL");
    let lost = calling.finish_within(TEST_TIMEOUT).expect(6);
    assert_eq!(lost.stdout, "");
    let expected = "error: the `switchboard serve` that called `echo/slow` ended before it \
                    reported the outcome; the call may have run\nhint: `switchboard calls --server \
                    echo` shows its state\n";
    assert_eq!(lost.stderr, expected);
    assert_eq!(arrival_count(&switchboard), 1, "it was called once");
    drop(person);
    // The file left behind leads nowhere and is harmless.
    let ran = switchboard.run(&["call", "echo", "echo", "text=a"]).expect(0);
    assert_eq!(ran.stdout, "a\n");
    let slow = "tool echo/slow: unknown (host_crash)".to_owned();
    assert_eq!(switchboard.recorded_calls(), [slow, "tool echo/echo: ok".to_owned()]);
}

#[test]
fn running_calls_of_a_task_are_left_to_the_server() {
    let switchboard = Switchboard::new();
    let trace = switchboard.text_path("trace");
    let words = ["echo", "--tasks", "--era", "legacy", "--trace", &trace];
    switchboard.configure(&json!({"near": fixture(&words)}));
    let person = Person::at(&switchboard, &[]);
    until(|| person.ask("servers/near")["state"] == "ready");
    let left = switchboard.run(&["call", "near", "research", "ms=60000", "--detach"]).expect(0);
    let id = left.stdout.trim();
    insta::assert_snapshot!(transcript(&left), @"
    exit status 0
    --- stdout
    1
    --- stderr
    server `near` continues it as task `[task]`
    `switchboard tasks wait 1` waits for its end
    ");
    let shown = switchboard.json(&["calls", "show", id]);
    assert_eq!(shown["target"], "research", "{shown}");
    assert_eq!(starts(&switchboard), 1);
}
