//! Tests of calls that servers continue as tasks: waiting, detaching, finding again, cancelling.

use std::time::Duration;

use serde_json::{Value, json};
use switchboard_testkit::HttpFixture;

use crate::running::{TEST_TIMEOUT, wait_for_text};
use crate::scripted::{configure, task};
use crate::switchboard::{Switchboard, fixture, result_text};
use crate::testenv;
use crate::transcript::transcript;

const RESEARCH: [&str; 4] = ["call", "everything", "simulate-research-query", "topic=python"];

/// Returns a fixture that outlives the programs that call it, and a home that has it.
fn far(era: &str) -> (Switchboard, HttpFixture) {
    let switchboard = Switchboard::new();
    let journal = switchboard.text_path("journal");
    let trace = switchboard.text_path("trace");
    let files = ["--journal", &journal, "--trace", &trace];
    let arguments = ["echo", "--tasks", "--era", era, "--transport", "http"];
    let server = HttpFixture::start(&[&arguments[..], &files].concat());
    switchboard.configure(&json!({"far": {"url": server.url}}));
    (switchboard, server)
}

fn call_id(switchboard: &Switchboard, ms: &str) -> String {
    let left = switchboard.run(&["call", "far", "research", ms, "--detach"]).expect(0);
    let id = left.stdout.trim().to_owned();
    insta::allow_duplicates!(insta::assert_snapshot!(transcript(&left), @"
    exit status 0
    --- stdout
    1
    --- stderr
    server `far` continues it as task `[task]`
    `switchboard tasks wait 1` waits for its end
    "));
    id
}

fn list_tasks(switchboard: &Switchboard, words: &[&str]) -> Vec<[String; 4]> {
    let tasks = switchboard.json(&[&["tasks"], words].concat());
    let text = |task: &Value, key: &str| task[key].as_str().unwrap_or("none").to_owned();
    let row = |task: &Value| ["id", "target", "status", "outcome"].map(|key| text(task, key));
    tasks.as_array().unwrap().iter().map(row).collect()
}

#[test]
fn a_tool_of_a_real_server_that_runs_only_as_a_task_gives_its_result() {
    let switchboard = Switchboard::with(&json!({"everything": testenv::everything()}));
    let ran = switchboard.run(&RESEARCH).expect(0);
    assert!(ran.stdout.starts_with("# Research Report: python"), "{ran:?}");
    assert_eq!(ran.stderr, "");
    assert_eq!(switchboard.recorded_calls(), ["tool everything/simulate-research-query: ok"]);
    let listed = list_tasks(&switchboard, &["--all"]);
    assert_eq!(listed[0][1..], ["simulate-research-query", "completed", "ok"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_task_of_a_real_server_asks_the_person_and_shows_how_far_it_is() {
    let switchboard = Switchboard::with(&json!({"everything": testenv::everything()}));
    let words = [&RESEARCH[..], &["ambiguous=true"]].concat();
    let mut terminal = switchboard.in_terminal(&words);
    terminal.wait_for("Analyzing content");
    terminal.wait_for("Which interpretation of the topic do you mean?");
    terminal.say("2\r");
    terminal.wait_for("Send it?");
    terminal.say("y\r");
    let ran = terminal.finish_within(TEST_TIMEOUT).expect(0);
    assert!(ran.stdout.contains("# Research Report: python (snake)"), "{ran:?}");
}

#[test]
fn a_call_is_left_found_again_by_another_program_and_finished_there() {
    for era in ["legacy", "modern"] {
        let (switchboard, _server) = far(era);
        let id = call_id(&switchboard, "ms=1500");
        let expected = [[id.as_str(), "research", "working", "none"].map(str::to_owned)];
        assert_eq!(list_tasks(&switchboard, &[]), expected, "{era}");
        // The call survives the end of the first program: it still runs.
        let calls = switchboard.run(&["calls"]).expect(0).stdout;
        assert!(calls.contains("\trunning\t"), "{era}: {calls}");
        let shown = switchboard.json(&["tasks", "show", &id]);
        let now = shown["now"]["status"].as_str().unwrap();
        assert!(["working", "completed"].contains(&now), "{era}: {shown}");

        let ended = switchboard.run(&["tasks", "wait", &id]).expect(0);
        assert_eq!(ended.stdout, "found it\n", "{era}: {ended:?}");
        assert_eq!(switchboard.recorded_calls(), ["tool far/research: ok"], "{era}");
        assert_eq!(list_tasks(&switchboard, &[]), Vec::<[String; 4]>::new(), "{era}");
        // A later `wait` returns the same result.
        let again = switchboard.run(&["tasks", "wait", &id, "--json"]).expect(0).json();
        assert_eq!(result_text(&again), "found it", "{era}");
    }
}

#[test]
fn a_call_whose_program_is_killed_goes_on_and_is_finished_later() {
    for era in ["legacy", "modern"] {
        let (switchboard, _server) = far(era);
        let mut calling = switchboard.start(&["call", "far", "research", "ms=3000"]);
        let id = loop_until_listed(&switchboard);
        calling.kill();
        let ended = switchboard.run(&["tasks", "wait", &id]).expect(0);
        assert_eq!(ended.stdout, "found it\n", "{era}: {ended:?}");
        assert!(!ended.stderr.contains("may have run"), "{era}: {ended:?}");
        assert_eq!(switchboard.recorded_calls(), ["tool far/research: ok"], "{era}");
        assert_eq!(call_count(&switchboard), 1, "{era}");
    }
}

/// Returns how often the tool was called.
fn call_count(switchboard: &Switchboard) -> usize {
    let journal = std::fs::read_to_string(switchboard.path("journal")).unwrap();
    journal.lines().filter(|line| *line == "called research").count()
}

fn loop_until_listed(switchboard: &Switchboard) -> String {
    let found = crate::running::poll(TEST_TIMEOUT, || {
        list_tasks(switchboard, &[]).first().map(|[id, ..]| id.clone())
    });
    found.expect("the call becomes a task")
}

#[test]
fn a_task_is_given_up_by_command_and_by_an_interrupt() {
    for era in ["legacy", "modern"] {
        let (switchboard, _server) = far(era);
        let id = call_id(&switchboard, "ms=60000");
        let given_up = switchboard.run(&["tasks", "cancel", &id]).expect(0);
        assert!(given_up.stderr.contains("cancelled task"), "{era}: {given_up:?}");
        let calling = switchboard.start(&["call", "far", "research", "ms=60000"]);
        loop_until_listed(&switchboard);
        calling.signal("INT");
        calling.finish_within(Duration::from_secs(20)).expect(130);
        let told = wait_for_text(&switchboard.path("journal"), "cancelled task");
        assert_eq!(told.matches("cancelled task").count(), 2, "{era}: {told}");
        let expected = ["tool far/research: cancelled (by_caller)"; 2];
        assert_eq!(switchboard.recorded_calls(), expected, "{era}");
    }
}

#[test]
fn an_interrupt_while_waiting_leaves_the_task_as_it_is() {
    let (switchboard, _server) = far("modern");
    let id = call_id(&switchboard, "ms=60000");
    let waiting = switchboard.start(&["tasks", "wait", &id]);
    wait_for_text(&switchboard.path("trace"), "tasks/get");
    waiting.signal("INT");
    waiting.finish_within(Duration::from_secs(10)).expect(130);
    assert_eq!(list_tasks(&switchboard, &[])[0][2], "working");
}

#[test]
fn a_task_that_ended_with_its_server_is_lost_and_said_to_be() {
    // A stdio server loses its tasks when its process ends.
    let switchboard = Switchboard::with(&json!({"near": fixture(&["echo", "--tasks"])}));
    let left = switchboard.run(&["call", "near", "research", "ms=60000", "--detach"]).expect(0);
    let id = left.stdout.trim();
    let lost = switchboard.run(&["tasks", "wait", id]).expect(6);
    insta::assert_snapshot!(transcript(&lost), @"
    exit status 6
    --- stderr
    error: server `near` no longer knows the task `[task]`: Task not found (code -32602)
    ");
    assert_eq!(switchboard.recorded_calls(), ["tool near/research: unknown (task_lost)"]);
    let gone = switchboard.run(&["tasks", "wait", "999"]).expect(2);
    insta::assert_snapshot!(transcript(&gone), @"
    exit status 2
    --- stderr
    error: call 999 is not recorded as a task
    hint: `switchboard tasks --all` lists the recorded tasks
    ");
}

#[test]
fn tasks_that_only_the_server_knows_are_listed_as_well() {
    let (switchboard, server) = far("legacy");
    call_id(&switchboard, "ms=60000");
    let stranger = Switchboard::with(&json!({"far": {"url": server.url}}));
    assert_eq!(list_tasks(&stranger, &[]), Vec::<[String; 4]>::new());
    let expected = [["none", "none", "working", "none"].map(str::to_owned)];
    assert_eq!(list_tasks(&stranger, &["--server", "far"]), expected);
    assert_eq!(list_tasks(&switchboard, &["--server", "far"]).len(), 1);
}

#[test]
fn a_conversation_takes_a_task_up_again_after_a_crash() {
    let (switchboard, server) = far("modern");
    let turns = json!([
        {"calls": [{"name": "far__research", "arguments": {"ms": 4000}}]},
        {"expect": ["found it"], "text": "It was found."},
    ]);
    let config = json!({"mcpServers": {"far": {"url": server.url}}});
    configure(&switchboard, &config, &turns);
    let mut running = switchboard.start(&["run", "--allow", "*", "--json", "Do it"]);
    loop_until_listed(&switchboard);
    running.kill();
    let ran = task(&switchboard, &["--allow", "*", "--resume", "last"]);
    assert_eq!(ran.stdout, "It was found.\n");
    assert_eq!(switchboard.recorded_calls(), ["tool far/research: ok"]);
    assert_eq!(call_count(&switchboard), 1);
}

const VISIT: [&str; 5] = [
    "call",
    "everything",
    "trigger-url-elicitation",
    "url=https://example.com/second",
    "errorPath=true",
];

#[test]
fn an_address_that_nobody_can_be_asked_about_ends_the_call() {
    let switchboard = Switchboard::with(&json!({"everything": testenv::everything()}));
    let declined = switchboard.run(&VISIT).expect(4);
    insta::assert_snapshot!(transcript(&declined), @"
    exit status 4
    --- stderr
    warning: a question of server `everything` was declined: Open this link to satisfy the prerequisite, then retry the request.
    hint: there is no terminal to ask on; use one, or pass `--wait-for-review`
    error: server `everything` requires a visit to a URL first, which was not approved
    ");
    assert_eq!(
        switchboard.recorded_calls(),
        ["tool everything/trigger-url-elicitation: refused (url_declined)"]
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_real_server_gets_its_call_again_after_the_address_that_it_wanted_visited_first() {
    use std::os::unix::fs::PermissionsExt as _;
    let switchboard = Switchboard::with(&json!({"everything": testenv::everything()}));
    let opener = switchboard.write("bin/xdg-open", "");
    let opened = switchboard.path("opened");
    let script = format!("#!/bin/sh\nprintf '%s\\n' \"$@\" >> '{}'\n", opened.display());
    std::fs::write(&opener, script).unwrap();
    std::fs::set_permissions(&opener, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut terminal = switchboard.in_terminal_with(&VISIT, opener.parent().unwrap());
    terminal.wait_for("Open it in your browser? [y/N]");
    terminal.say("y\r");
    // The retried call requests an address of its own.
    terminal.wait_for("  https://example.com/second\r\n");
    terminal.say("y\r");
    let ran = terminal.finish_within(TEST_TIMEOUT).expect(0);
    assert!(ran.stdout.contains("User completed the URL elicitation flow."), "{ran:?}");
    let opened = std::fs::read_to_string(&opened).unwrap();
    assert_eq!(opened, "https://modelcontextprotocol.io\nhttps://example.com/second\n");
    assert_eq!(switchboard.recorded_calls(), ["tool everything/trigger-url-elicitation: ok"]);
}
