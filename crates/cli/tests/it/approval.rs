//! A project's file is written by others: nothing in it runs before a person approves it.

use serde_json::json;

use crate::running::started_pids;
use crate::serve_client::ServingGateway;
use crate::serve_tokens::token;
use crate::switchboard::{Switchboard, fixture};
use crate::transcript::transcript;

fn project(switchboard: &Switchboard, more: &[&str]) {
    let trace = switchboard.text_path("trace");
    let entry = fixture(&[&["echo", "--trace", &trace], more].concat());
    switchboard.write("switchboard.json", &json!({"mcpServers": {"echo": entry}}).to_string());
}

#[test]
fn nothing_of_a_project_runs_before_it_is_approved() {
    let switchboard = Switchboard::new();
    let trace = switchboard.path("trace");
    project(&switchboard, &[]);
    let call = ["call", "echo", "echo", "text=a"];

    assert_eq!(switchboard.status("echo"), ["needs approval", ""]);
    let refused = switchboard.run(&call).expect(5);
    insta::assert_snapshot!(transcript(&refused), @"
    exit status 5
    --- stderr
    warning: server `echo` has not been approved
    hint: review it, then run `switchboard servers approve echo`
    error: server `echo` has not been approved
    hint: review it, then run `switchboard servers approve echo`
    ");
    switchboard.run(&["doctor"]).expect(4);
    switchboard.run(&["tools"]).expect(0);
    assert!(!trace.exists(), "a server was started without approval");

    let approved = switchboard.run(&["servers", "approve", "echo"]).expect(0);
    insta::assert_snapshot!(transcript(&approved), @"
    exit status 0
    --- stderr
    `echo` runs: switchboard-testkit echo --trace [work]/trace
    not started yet: its first definitions will count as approved
    approved; any change to its entry needs a new approval
    ");
    assert!(!trace.exists(), "approving started the server");
    assert_eq!(switchboard.run(&call).expect(0).stdout, "a\n");
    assert_eq!(started_pids(&trace).len(), 1);

    project(&switchboard, &["--tools", "1"]);
    switchboard.run(&call).expect(5);
    assert_eq!(started_pids(&trace).len(), 1, "a changed entry ran without approval");
    switchboard.run(&["servers", "approve", "echo"]).expect(0);
    switchboard.run(&["call", "echo", "tool_0001", "query=a"]).expect(0);
    assert_eq!(started_pids(&trace).len(), 2);

    assert_eq!(
        switchboard.recorded_calls(),
        [
            "tool echo/echo: not_sent (not_approved)",
            "tool echo/echo: ok",
            "tool echo/echo: not_sent (not_approved)",
            "tool echo/tool_0001: ok",
        ]
    );
}

#[test]
fn an_approval_holds_for_one_project_only() {
    let mine = Switchboard::new();
    let other = Switchboard::new();
    project(&mine, &[]);
    mine.run(&["servers", "approve", "echo"]).expect(0);
    let entry = std::fs::read_to_string(mine.path("switchboard.json")).unwrap();
    let elsewhere = other.write("switchboard.json", &entry);
    // The same home and the same entry, in another folder.
    let mut command = mine.command(&["call", "echo", "echo", "text=a"]);
    command.current_dir(elsewhere.parent().unwrap()).env("HOME", elsewhere.parent().unwrap());
    let ran = crate::running::RunningProcess::start(&mut command)
        .finish_within(crate::running::TEST_TIMEOUT);
    assert_eq!(ran.code, 5, "{ran:?}");
    assert_eq!(started_pids(&mine.path("trace")), [0_u32; 0]);
}

#[test]
fn a_server_that_a_person_adds_to_the_project_is_approved_with_it() {
    let switchboard = Switchboard::new();
    let binary = switchboard_testkit::binary();
    let words = ["servers", "add", "--scope", "project", "mine", "--", binary.to_str().unwrap()];
    switchboard.run(&[&words[..], &["echo"]].concat()).expect(0);
    assert!(switchboard.path("switchboard.json").is_file());
    assert_eq!(switchboard.status("mine"), ["ready", "2026-07-28"]);
}

#[test]
fn a_client_that_calls_what_waits_for_approval_is_told_so_if_it_may_see_it() {
    let switchboard = Switchboard::with(&json!({"here": fixture(&["echo"])}));
    project(&switchboard, &[]);
    let whole = token(&switchboard, &["whole"]);
    let few = token(&switchboard, &["few", "--server", "here"]);
    for (options, name) in [
        (&["--require-token"][..], "echo__echo"),
        (
            &["--require-token", "--names", "plain", "--server", "here", "--server", "echo"],
            "nobodys",
        ),
    ] {
        let serving = ServingGateway::start(&switchboard, options);
        serving.wait_for_tool(Some(&few), if options.len() == 1 { "here__echo" } else { "echo" });
        let call = |token: &str| {
            let call = json!({"name": name, "arguments": {"text": "a"}});
            serving.ask(Some(token), "tools/call", call).to_string()
        };
        let told = call(&whole);
        assert!(told.contains("`switchboard servers approve echo`"), "{told}");
        let told = call(&few);
        assert!(!told.contains("approve"), "{told}");
        assert!(told.contains(&format!("unknown tool `{name}`")), "{told}");
        let read = serving.ask(Some(&few), "resources/read", json!({"uri": "x://y"}));
        assert_eq!(read["error"]["message"], "unknown resource `x://y`");
        serving.signal("TERM");
        serving.finish();
    }
    assert!(!switchboard.path("trace").exists(), "a server was started without approval");
}
