//! The exit code reports how a call ended.

use serde_json::json;

use crate::switchboard::{Switchboard, fixture};
use crate::transcript::transcript;

#[test]
fn the_exit_code_says_how_a_call_ended() {
    let switchboard = Switchboard::with(&json!({
        "echo": fixture(&["echo"]),
        "crashes": fixture(&["flaky", "--fault", "crash-after-read"]),
        "hangs": {
            "command": switchboard_testkit::binary(),
            "args": ["flaky", "--fault", "hang"],
            "timeout": 1,
        },
        "huge-error": fixture(&["flaky", "--fault", "huge-error"]),
    }));
    let cases: [(&[&str], i32, &str); 8] = [
        (&["echo", "echo", "text=a"], 0, "ok"),
        (&["echo", "fail", "message=bad"], 1, "tool_error"),
        (&["echo", "ecco", "text=a"], 2, "not_sent"),
        (&["echo", "echo", "text:=1"], 2, "not_sent"),
        (&["crashes", "echo", "text=a"], 6, "unknown"),
        (&["hangs", "echo", "text=a"], 6, "unknown"),
        (&["huge-error", "echo", "text=a"], 6, "failed"),
        (&["echo", "echo", "text=a", "--review"], 5, "denied"),
    ];
    for (words, code, outcome) in cases {
        let ended = switchboard.call(words, code);
        assert_eq!(ended["outcome"], outcome, "{words:?}: {ended}");
    }
    let recorded: Vec<String> = switchboard.recorded_calls();
    assert_eq!(recorded.len(), cases.len(), "{recorded:?}");
    let nobody = switchboard.run(&["call", "ecco", "echo"]).expect(2);
    insta::assert_snapshot!(transcript(&nobody), @"
    exit status 2
    --- stderr
    error: unknown server `ecco`
    hint: did you mean `echo`?
    ");
}

#[test]
fn a_server_that_cannot_start_ends_a_call_with_code_4_and_the_way_out() {
    let switchboard = Switchboard::with(&json!({
        "missing": {"command": "no-such-program"},
        "ends": fixture(&["flaky", "--fault", "exit-at-start"]),
        "refuses": {"url": "http://127.0.0.1:9/mcp"},
        "broken": {"args": []},
    }));
    for (server, why) in [
        ("missing", "`no-such-program` was not found"),
        ("ends", "exit status 1"),
        ("refuses", "refused"),
        ("broken", "neither `command` nor `url`"),
    ] {
        let ran = switchboard.run(&["call", server, "echo", "text=a", "--json"]);
        let ended = ran.json();
        assert_eq!(ended["outcome"], "not_sent", "{ended}");
        let message = ended["message"].as_str().unwrap();
        assert!(message.contains(why), "no `{why}` in {ended}");
        assert!(ended["hint"].is_string(), "{ended}");
        assert_eq!(ran.code, 4, "{ended}");
    }
}
