//! Tests of `switchboard sessions`: list, show, rename, export, delete and fork.

use serde_json::{Value, json};

use crate::running::{Ran, RunningProcess, TEST_TIMEOUT, poll};
use crate::scripted::{configure, last_session, scripted_home, steps, task};
use crate::switchboard::{Switchboard, fixture};
use crate::transcript::{redacted, transcript};

/// Returns a home with one conversation that called a tool, and the session id.
fn one_conversation() -> (Switchboard, String) {
    let config = json!({"mcpServers": {"echo": fixture(&["echo"])}});
    let turns = json!([
        {"text": "I add.", "calls": [{"name": "echo__add", "arguments": {"a": 2, "b": 3}}]},
        {"expect": ["5"], "text": "It is **five**."},
        {"expect": ["more"], "text": "There is more."},
        {"expect": ["on"], "text": "And on."},
    ]);
    let switchboard = scripted_home(&config, &turns);
    task(&switchboard, &["--allow", "echo", "How much is 2 + 3?"]);
    let session = last_session(&switchboard);
    (switchboard, session)
}

/// Returns the user's messages of a session, in order.
fn user_messages(switchboard: &Switchboard, session: &str) -> Vec<String> {
    let steps = steps(switchboard, session);
    let said = steps.iter().filter(|step| step["what"] == "said");
    said.map(|step| step["text"].as_str().unwrap().to_owned()).collect()
}

fn ids(switchboard: &Switchboard) -> Vec<String> {
    let listed = switchboard.json(&["sessions"]);
    let all = listed.as_array().unwrap().iter();
    all.map(|session| session["session"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn conversations_are_listed_with_the_last_changed_first() {
    let (switchboard, first) = one_conversation();
    let turns = json!([{"text": "Hi."}, {"text": "Again."}, {"text": "And again."}]);
    configure(&switchboard, &json!({}), &turns);
    let ran = task(&switchboard, &["--name", "greeting", "Hello there"]);
    let second = last_session(&switchboard);
    insta::assert_snapshot!(transcript(&ran), @"
    exit status 0
    --- stdout
    Hi.
    --- stderr
    session [session]
    ");
    let listed = switchboard.json(&["sessions", "list"]);
    let row = |at: usize| {
        let row = &listed[at];
        json!([
            row["session"], row["name"], row["opening"], row["model"], row["steps"], row["parent"]
        ])
    };
    assert_eq!(row(0), json!([second, "greeting", "Hello there", "main", 3, null]));
    assert_eq!(row(1), json!([first, null, "How much is 2 + 3?", "main", 5, null]));
    assert_eq!(listed.as_array().unwrap().len(), 2);
    assert_eq!(switchboard.json(&["sessions", "ls", "-n", "1"]).as_array().unwrap().len(), 1);
    let table = switchboard.run(&["sessions"]).expect(0).stdout;
    insta::assert_snapshot!(redacted(&table), @"
    [session]	[time]	main	3	greeting
    [session]	[time]	main	5	How much is 2 + 3?
    ");
    task(&switchboard, &["--resume", &first, "Once more"]);
    assert_eq!(ids(&switchboard), [first, second]);
}

#[test]
fn without_conversations_there_is_nothing_to_list() {
    let switchboard = Switchboard::new();
    assert_eq!(switchboard.json(&["sessions"]), json!([]));
    let ran = switchboard.run(&["sessions", "show", "last"]).expect(2);
    insta::assert_snapshot!(transcript(&ran), @"
    exit status 2
    --- stderr
    error: no conversation named `last`
    hint: list them with `switchboard sessions`
    ");
}

#[test]
fn questions_answers_and_calls_are_shown_and_written_out() {
    let (switchboard, session) = one_conversation();
    let shown = switchboard.run(&["sessions", "show", &session]).expect(0).stdout;
    insta::assert_snapshot!(redacted(&shown), @r#"
    # How much is 2 + 3?

    Session `[session]`, model `main`, started [time].

    ## User

    How much is 2 + 3?

    ## Assistant

    I add.

    <details><summary>echo/add: ok</summary>

    `{"a":2,"b":3}`

    ```
    {"sum":5}
    ```

    </details>

    ## Assistant

    It is **five**.
    "#);
    let exported = switchboard.run(&["sessions", "export", &session]).expect(0).stdout;
    assert_eq!(exported, shown);
    let file = switchboard.text_path("talk.md");
    let ran = switchboard.run(&["sessions", "export", &session, "--output", &file]).expect(0);
    assert_eq!((ran.stdout.as_str(), std::fs::read_to_string(&file).unwrap()), ("", exported));
    let file = switchboard.text_path("talk.json");
    switchboard.run(&["sessions", "export", "last", "-f", "json", "-o", &file]).expect(0);
    let written: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(written, switchboard.json(&["sessions", "show", &session]));
    let kinds: Vec<&str> = written["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| step["input"]["what"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["began", "said", "answered", "ended", "answered"]);
    let nowhere = switchboard.text_path("no/such/folder");
    let ran = switchboard.run(&["sessions", "export", &session, "-o", &nowhere]);
    assert!(ran.code != 0 && ran.stderr.starts_with("error: "), "{ran:?}");
}

#[test]
fn what_a_model_said_is_shown_without_control_characters() {
    let switchboard = scripted_home(&json!({}), &json!([{"text": "a\u{1b}[2Jb\u{202e}c"}]));
    let ran = task(&switchboard, &["q\u{1b}]0;x\u{7}"]);
    let shown = switchboard.run(&["sessions", "show", "last"]).expect(0).stdout;
    let listed = switchboard.run(&["sessions"]).expect(0).stdout;
    for text in [ran.stdout, shown, listed] {
        let bad = |c: char| (c.is_control() && c != '\n' && c != '\t') || c == '\u{202e}';
        assert!(!text.contains(bad), "{text:?}");
    }
}

#[test]
fn a_name_the_beginning_of_an_id_and_last_find_a_conversation() {
    let (switchboard, session) = one_conversation();
    let ran = switchboard.run(&["sessions", "rename", &session, " sums "]).expect(0);
    insta::assert_snapshot!(transcript(&ran), @"
    exit status 0
    --- stderr
    renamed session [session] to `sums`
    ");
    let long: String = session.chars().take(11).collect();
    for word in [session.as_str(), &long, "sums", "last"] {
        let shown = switchboard.json(&["sessions", "show", word]);
        assert_eq!(
            (&shown["session"], &shown["name"]),
            (&json!(session), &json!("sums")),
            "{word}"
        );
    }
    for word in ["sum", "zzzz"] {
        let message = format!("error: no conversation named `{word}`\n");
        for command in ["show", "export", "fork"] {
            let ran = switchboard.run(&["sessions", command, word]).expect(2);
            assert!(ran.stderr.starts_with(&message), "{ran:?}");
        }
        let ran = switchboard.run(&["run", "--resume", word, "hello"]).expect(2);
        assert!(ran.stderr.starts_with(&message), "{ran:?}");
    }
    let ran = switchboard.run(&["sessions", "show", "sum"]);
    insta::assert_snapshot!(transcript(&ran), @"
    exit status 2
    --- stderr
    error: no conversation named `sum`
    hint: did you mean `sums`?
    ");
    let mut seen = Vec::new();
    for bad in ["", "last", "two\nlines"] {
        let ran = switchboard.run(&["sessions", "rename", "sums", bad]).expect(2);
        seen.push(transcript(&ran));
    }
    insta::assert_snapshot!(seen.join("\n\n"), @"
    exit status 2
    --- stderr
    error: invalid conversation name ``
    hint: use 1 to 100 printable characters, but not `last`

    exit status 2
    --- stderr
    error: invalid conversation name `last`
    hint: use 1 to 100 printable characters, but not `last`

    exit status 2
    --- stderr
    error: invalid conversation name `two
    lines`
    hint: use 1 to 100 printable characters, but not `last`
    ");
}

#[test]
fn a_word_that_means_several_conversations_names_them() {
    let switchboard = scripted_home(&json!({}), &json!([{"text": "Hi."}]));
    for _ in 0..2 {
        task(&switchboard, &["--name", "twin", "Hello"]);
    }
    let both = ids(&switchboard);
    // The common prefix of two ids from the same hour.
    let short: String = both[0].chars().take(2).collect();
    for word in ["twin", short.as_str()] {
        let ran = switchboard.run(&["sessions", "delete", word, "--yes"]).expect(2);
        assert!(ran.stderr.contains("matches several conversations"), "{ran:?}");
        assert!(both.iter().all(|id| ran.stderr.contains(id.as_str())), "{ran:?}");
    }
    assert_eq!(ids(&switchboard), both);
}

#[test]
fn only_a_yes_deletes() {
    let (switchboard, session) = one_conversation();
    let refused = switchboard.run_with_input(&["sessions", "delete", &session], "y\n").expect(2);
    insta::assert_snapshot!(transcript(&refused), @"
    exit status 2
    --- stderr
    error: confirmation needed, but there is no terminal to ask on
    hint: pass `--yes` to delete it
    ");
    assert_eq!(ids(&switchboard), [session.as_str()]);
    let ran = switchboard.run(&["sessions", "rm", &session, "--yes"]).expect(0);
    insta::assert_snapshot!(transcript(&ran), @"
    exit status 0
    --- stderr
    deleted session [session]
    ");
    assert_eq!(ids(&switchboard), Vec::<String>::new());
    switchboard.run(&["sessions", "show", &session]).expect(2);
    // The record of calls is separate from sessions.
    assert_eq!(switchboard.recorded_calls(), ["tool echo/add: ok"]);
}

#[cfg(target_os = "linux")]
#[test]
fn at_a_terminal_a_person_is_asked_before_something_is_deleted() {
    use crate::terminal::Terminal;
    let (switchboard, session) = one_conversation();
    for (answer, shown, left) in [("n", "nothing was deleted", 1), ("y", "deleted session", 0)] {
        let mut terminal = Terminal::open(&switchboard, &["sessions", "delete", "last"]);
        terminal.wait_for(&format!("Delete session {session} with 5 steps? [y/N] "));
        terminal.say(&format!("{answer}\n"));
        terminal.wait_for(shown);
        assert_eq!(terminal.finish().0, 0);
        assert_eq!(ids(&switchboard).len(), left, "{answer}");
    }
}

#[test]
fn a_fork_and_its_origin_go_on_independently() {
    let (switchboard, origin) = one_conversation();
    let forked = switchboard.run(&["sessions", "fork", &origin, "--name", "branch"]).expect(0);
    let fork = forked.stdout.trim().to_owned();
    assert_eq!(steps(&switchboard, &fork), steps(&switchboard, &origin));
    task(&switchboard, &["--resume", "branch", "more here"]);
    task(&switchboard, &["--resume", &origin, "more there"]);
    task(&switchboard, &["--resume", "branch", "and on"]);
    assert_eq!(user_messages(&switchboard, &fork), ["How much is 2 + 3?", "more here", "and on"]);
    assert_eq!(user_messages(&switchboard, &origin), ["How much is 2 + 3?", "more there"]);
    let shown = switchboard.json(&["sessions", "show", "branch"]);
    assert_eq!(shown["parent"], json!({"session": origin, "step": 5}));
    switchboard.run(&["sessions", "delete", &origin, "--yes"]).expect(0);
    assert_eq!(user_messages(&switchboard, &fork).len(), 3);
    assert_eq!(switchboard.recorded_calls(), ["tool echo/add: ok"], "a fork ran the call again");
}

#[test]
fn a_fork_takes_over_only_the_steps_up_to_the_given_one() {
    let (switchboard, origin) = one_conversation();
    task(&switchboard, &["--resume", &origin, "more of it"]);
    let forked = switchboard.json(&["sessions", "fork", &origin, "--step", "5"]);
    let fork = forked["session"].as_str().unwrap().to_owned();
    task(&switchboard, &["--resume", &fork, "more of another kind"]);
    assert_eq!(user_messages(&switchboard, &fork), ["How much is 2 + 3?", "more of another kind"]);
    assert_eq!(user_messages(&switchboard, &origin), ["How much is 2 + 3?", "more of it"]);
    let mut seen = Vec::new();
    for step in ["8", "99"] {
        let ran = switchboard.run(&["sessions", "fork", &origin, "--step", step]).expect(2);
        seen.push(transcript(&ran));
    }
    insta::assert_snapshot!(seen.join("\n\n"), @"
    exit status 2
    --- stderr
    error: the conversation `[session]` has no step 8; it has 7
    hint: steps are counted from 1

    exit status 2
    --- stderr
    error: the conversation `[session]` has no step 99; it has 7
    hint: steps are counted from 1
    ");
}

#[test]
fn a_fork_in_the_middle_of_a_step_does_not_run_its_call_again() {
    let (switchboard, origin) = one_conversation();
    // The answer with the call is the third step.
    let forked = switchboard.json(&["sessions", "fork", &origin, "--step", "3"]);
    let fork = forked["session"].as_str().unwrap().to_owned();
    switchboard.run(&["run", "--resume", &fork, "--allow", "*"]);
    assert_eq!(switchboard.recorded_calls(), ["tool echo/add: ok"]);
    let shown = switchboard.run(&["sessions", "show", &fork]).expect(0).stdout;
    insta::assert_snapshot!(redacted(&shown), @r#"
    # How much is 2 + 3?

    Session `[session]`, model `main`, started [time].

    ## User

    How much is 2 + 3?

    ## Assistant

    I add.

    <details><summary>echo/add: unknown</summary>

    `{"a":2,"b":3}`

    ```
    Not run here: this conversation was copied from another, where this call was running, so it may have run. Find out before you request it again.
    ```

    </details>

    *The model request failed: the script `[work]/main.script.json`: turn 2 expects `5`, but got `Not run here: this conversation was copied from another, where this call was running, so it may have run. Find out before you request it again.`*
    "#);
}

#[test]
fn without_a_record_nothing_is_kept() {
    let switchboard = scripted_home(&json!({}), &json!([{"text": "Hi."}]));
    let ran = task(&switchboard, &["--no-record", "Hello"]);
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("Hi.\n", ""));
    assert_eq!(switchboard.json(&["sessions"]), json!([]));
    let ran = switchboard.run(&["run", "--no-record", "--resume", "last"]).expect(2);
    insta::assert_snapshot!(transcript(&ran), @"
    exit status 2
    --- stderr
    error: no conversation named `last`
    hint: list them with `switchboard sessions`
    ");
}

#[test]
fn conversations_at_the_same_time_are_kept_apart() {
    let slow = json!([{"text": "One piece after the other.", "delayMs": 50}]);
    let switchboard = scripted_home(&json!({}), &slow);
    let questions: Vec<String> = (1..=6).map(|number| format!("question {number}")).collect();
    let running: Vec<RunningProcess> =
        questions.iter().map(|question| switchboard.start(&["run", question])).collect();
    let ran: Vec<Ran> =
        running.into_iter().map(|running| running.finish_within(TEST_TIMEOUT).expect(0)).collect();
    assert!(ran.iter().all(|ran| ran.stdout == "One piece after the other.\n"), "{ran:?}");
    let mut kept: Vec<String> =
        ids(&switchboard).iter().flat_map(|id| user_messages(&switchboard, id)).collect();
    kept.sort();
    assert_eq!(kept, questions);
}

#[test]
fn a_conversation_that_is_open_is_not_deleted() {
    let slow =
        json!([{"text": "One piece after the other, and the next.", "chunk": 4, "delayMs": 400}]);
    let switchboard = scripted_home(&json!({}), &slow);
    let running = switchboard.start(&["run", "Hello"]);
    let open = poll(TEST_TIMEOUT, || ids(&switchboard).pop()).expect("the conversation is kept");
    let refused = switchboard.run(&["sessions", "delete", &open, "--yes"]).expect(2);
    insta::assert_snapshot!(transcript(&refused), @"
    exit status 2
    --- stderr
    error: the conversation `[session]` is open elsewhere
    hint: close it there, or fork it with `switchboard sessions fork`
    ");
    running.finish_within(TEST_TIMEOUT).expect(0);
    assert_eq!(user_messages(&switchboard, &open), ["Hello"]);
    switchboard.run(&["sessions", "delete", &open, "--yes"]).expect(0);
    assert_eq!(ids(&switchboard), Vec::<String>::new());
}

#[test]
fn two_processes_cannot_go_on_with_one_conversation_at_the_same_time() {
    let turns = json!([
        {"text": "Hi."},
        {"expect": ["both"], "text": "One piece after the other.", "delayMs": 200},
        {"expect": ["both"], "text": "The same once more."},
    ]);
    let switchboard = scripted_home(&json!({}), &turns);
    task(&switchboard, &["Hello"]);
    let session = last_session(&switchboard);
    let words = ["run", "--resume", &session, "both"];
    let [first, second] = [switchboard.start(&words), switchboard.start(&words)];
    let mut ran = [first.finish_within(TEST_TIMEOUT), second.finish_within(TEST_TIMEOUT)];
    ran.sort_by_key(|ran| ran.code);
    let ends = ran.map(|ran| (ran.code, ran.stderr.contains("is open elsewhere")));
    assert_eq!(ends, [(0, false), (2, true)]);
    assert_eq!(user_messages(&switchboard, &session), ["Hello", "both"]);
}

#[test]
fn a_profile_that_is_gone_can_be_replaced() {
    let (switchboard, session) = one_conversation();
    let other = crate::scripted::profile(
        &switchboard,
        "other",
        &json!([{"text": ""}, {"text": ""}, {"text": "Another model."}]),
    );
    switchboard.write_config(&json!({"models": {"other": other}}).to_string());
    let ran = switchboard.run(&["run", "--resume", &session, "hello"]).expect(3);
    insta::assert_snapshot!(transcript(&ran), @"
    exit status 3
    --- stderr
    error: unknown model `main`
    hint: `switchboard models` lists the profiles; provider:model needs no profile
    ");
    let ran = task(&switchboard, &["--resume", &session, "--model", "other", "hello"]);
    assert_eq!(ran.stdout, "Another model.\n");
    assert_eq!(user_messages(&switchboard, &session), ["How much is 2 + 3?", "hello"]);
}
