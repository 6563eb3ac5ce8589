//! On a machine where nothing is configured, the built-in server is there and works.

use serde_json::{Value, json};

use crate::switchboard::{Switchboard, text_of};

#[test]
fn with_nothing_configured_the_built_in_server_works() {
    let switchboard = Switchboard::new();
    assert_eq!(
        switchboard.tools("builtin"),
        ["echo", "files_list", "files_read", "files_search", "time_convert", "time_now"]
    );
    let people = switchboard.run(&["tools"]).expect(0);
    assert!(people.stdout.starts_with("builtin\techo\t"), "{people:?}");
    assert_eq!(people.stderr, "");
    assert_eq!(switchboard.status("builtin"), ["ready", "2026-07-28"]);

    let echoed = switchboard.run(&["call", "builtin", "echo", "text=hello", "times=2"]).expect(0);
    assert_eq!([echoed.stdout, echoed.stderr], ["hello\nhello\n", ""]);
    switchboard.write("note.txt", "written here\n");
    let read = switchboard.call(&["builtin", "files_read", "path=note.txt"], 0);
    assert!(text_of(&read).contains("written here"), "{read}");
    let outside = switchboard.call(&["builtin", "files_read", "path=../own/state"], 1);
    assert_eq!(outside["outcome"], "tool_error", "{outside}");

    assert_eq!(
        switchboard.recorded(),
        [
            "tool builtin/echo: ok",
            "tool builtin/files_read: ok",
            "tool builtin/files_read: tool_error"
        ]
    );
    assert_eq!(switchboard.config_text(), "", "looking around made a file");
    switchboard.run(&["doctor"]).expect(0);
}

#[test]
fn search_finds_a_tool_by_its_words() {
    let switchboard = Switchboard::new();
    let found = switchboard.json(&["tools", "search", "time", "zone", "--limit", "2"]);
    let mut names: Vec<&str> =
        found.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(names, ["time_convert", "time_now"]);
    let nothing = switchboard.run(&["tools", "search", "xylophone", "--json"]).expect(0);
    assert_eq!(nothing.json(), json!([]));
}

#[test]
fn a_call_can_be_looked_at_later_and_left_unrecorded() {
    let switchboard = Switchboard::new();
    let recorded = switchboard.call(&["builtin", "echo", "text=kept"], 0);
    assert_eq!(recorded["recorded"], true);
    let unrecorded = switchboard.call(&["builtin", "echo", "text=forgotten", "--no-record"], 0);
    assert_eq!([&unrecorded["recorded"], &unrecorded["id"]], [&json!(false), &Value::Null]);
    assert_eq!(switchboard.recorded(), ["tool builtin/echo: ok"]);

    let id = recorded["id"].as_str().unwrap();
    let shown = switchboard.json(&["calls", "show", id]);
    assert_eq!(shown["arguments"], json!({"text": "kept"}));
    assert_eq!(shown["result"]["content"], recorded["result"]["content"]);
    assert_eq!([&shown["verdict"], &shown["outcome"]], ["allow", "ok"]);
    let none = switchboard.run(&["calls", "show", "123456"]).expect(2);
    assert!(none.stderr.contains("no call 123456 is recorded"), "{none:?}");
    assert_eq!(switchboard.json(&["calls", "--outcome", "failed"]), json!([]));
}
