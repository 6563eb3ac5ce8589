//! Without any configuration on the machine, the built-in server is available and works.

use serde_json::{Value, json};

use crate::switchboard::{Switchboard, result_text};
use crate::transcript::transcript;

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
    assert!(result_text(&read).contains("written here"), "{read}");
    let outside = switchboard.call(&["builtin", "files_read", "path=../own/state"], 1);
    assert_eq!(outside["outcome"], "tool_error", "{outside}");

    assert_eq!(
        switchboard.recorded_calls(),
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
    assert_eq!(switchboard.recorded_calls(), ["tool builtin/echo: ok"]);

    let id = recorded["id"].as_str().unwrap();
    let shown = switchboard.json(&["calls", "show", id]);
    assert_eq!(shown["arguments"], json!({"text": "kept"}));
    assert_eq!(shown["result"]["content"], recorded["result"]["content"]);
    assert_eq!([&shown["verdict"], &shown["outcome"]], ["allow", "ok"]);
    let none = switchboard.run(&["calls", "show", "123456"]).expect(2);
    insta::assert_snapshot!(transcript(&none), @"
    exit status 2
    --- stderr
    error: no call 123456 is recorded
    hint: `switchboard calls` lists them
    ");
    assert_eq!(switchboard.json(&["calls", "--outcome", "failed"]), json!([]));
}

#[test]
fn nobody_takes_the_name_of_the_built_in_server() {
    let switchboard = Switchboard::new();
    let added = switchboard.run(&["servers", "add", "builtin", "--", "true"]).expect(3);
    insta::assert_snapshot!(transcript(&added), @"
    exit status 3
    --- stderr
    error: `builtin`: has the name of the built-in server ([home]/own/config.json, key `command`)
    hint: give it another name
    ");
    assert_eq!(switchboard.config_text(), "");
    switchboard.configure(&json!({"builtin": {"command": "true"}}));
    let refused = switchboard.run(&["call", "builtin", "echo", "text=a"]).expect(4);
    insta::assert_snapshot!(transcript(&refused), @"
    exit status 4
    --- stderr
    warning: server `builtin` is not ready: `builtin`: has the name of the built-in server ([home]/own/config.json:1, key `command`)
    hint: give it another name
    error: server `builtin` is unusable: `builtin`: has the name of the built-in server ([home]/own/config.json:1, key `command`)
    hint: give it another name
    ");
    switchboard.configure(&json!({"builtin": {"timeout": 5}}));
    switchboard.run(&["call", "builtin", "echo", "text=a"]).expect(0);
}

#[test]
fn a_fraction_of_a_second_is_kept_and_a_time_too_far_away_is_said_to_be_that() {
    let switchboard = Switchboard::new();
    let convert = |time: &str, code: i32| {
        let time = format!("time={time}");
        switchboard.call(&["builtin", "time_convert", &time, "from=UTC", "to=+05:30"], code)
    };
    for (time, from, to) in [
        ("2026-03-01 15:30:00.25", "2026-03-01T15:30:00.25+00:00", "2026-03-01T21:00:00.25+05:30"),
        ("2026-03-01T15:30:00Z", "2026-03-01T15:30:00+00:00", "2026-03-01T21:00:00+05:30"),
        ("9999-12-30 21:59:59", "9999-12-30T21:59:59+00:00", "9999-12-31T03:29:59+05:30"),
    ] {
        let told = convert(time, 0);
        let told = &told["result"]["structuredContent"];
        assert_eq!([&told["from"]["iso"], &told["to"]["iso"]], [from, to], "{time}");
    }
    let today = convert("15:30:59.5", 0);
    let iso = today["result"]["structuredContent"]["to"]["iso"].as_str().unwrap();
    assert!(iso.ends_with("T21:00:59.5+05:30"), "{today}");
    for time in ["9999-12-31 23:59:59", "9999-12-31T23:59:59Z", "-009999-01-01 00:00"] {
        let refused = convert(time, 1);
        assert!(result_text(&refused).contains("is too far away"), "{refused}");
    }
    let now = switchboard.call(&["builtin", "time_now", "timezone=UTC"], 0);
    let iso = now["result"]["structuredContent"]["iso"].as_str().unwrap();
    assert!(!iso.contains('.'), "{now}");
}
