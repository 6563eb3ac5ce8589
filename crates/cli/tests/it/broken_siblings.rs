//! One broken entry or server does not hide the others.

use serde_json::json;

use crate::switchboard::{Switchboard, fixture};
use crate::transcript::{redacted, transcript};

#[test]
fn a_broken_entry_and_a_broken_server_leave_their_siblings_alone() {
    let switchboard = Switchboard::with(&json!({
        "misspelt": {"comand": "x"},
        "both": {"command": "x", "url": "http://127.0.0.1:9/mcp"},
        "missing": {"command": "no-such-program"},
        "ends": fixture(&["flaky", "--fault", "exit-at-start"]),
        "bad-tool": fixture(&["flaky", "--fault", "bad-tool"]),
        "good": fixture(&["echo"]),
    }));
    let servers = switchboard.run(&["servers", "--json"]).expect(0);
    let listed = servers.json();
    let states: Vec<[&str; 2]> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|server| [server["name"].as_str().unwrap(), server["status"].as_str().unwrap()])
        .collect();
    assert_eq!(
        states,
        [
            ["bad-tool", "ready"],
            ["both", "failed"],
            ["builtin", "ready"],
            ["ends", "waiting to retry"],
            ["good", "ready"],
            ["missing", "waiting to retry"],
            ["misspelt", "failed"],
        ]
    );
    insta::assert_snapshot!(redacted(&servers.stderr), @"
    warning: `misspelt`: `comand` is not known ([home]/own/config.json:1)
    hint: did you mean `command`?
    warning: server `both` is not ready: `both`: has both `command` and `url` ([home]/own/config.json:1)
    hint: keep `command` for a program, or `url` for a remote server
    warning: server `ends` is not ready: the server exited: exit status 1
    hint: see its complete log with `switchboard servers logs ends`
    warning: server `missing` is not ready: the command `no-such-program` was not found on PATH
    hint: install `no-such-program`, or set `command` to its full path
    warning: server `misspelt` is not ready: `misspelt`: has neither `command` nor `url` ([home]/own/config.json:1:[column])
    hint: give a `command` for a program, or a `url` for a remote server
    ");
    let faults = &listed[0]["faults"];
    assert_eq!(faults.as_array().map(Vec::len), Some(2), "two entries are bad: {listed}");
    assert!(switchboard.tools("bad-tool").contains(&"echo".to_owned()));

    let call = switchboard.run(&["call", "good", "echo", "text=still here"]).expect(0);
    assert_eq!(call.stdout, "still here\n");
}

#[test]
fn an_entry_without_a_proper_name_leaves_its_siblings_alone() {
    let servers = json!({
        "": fixture(&["echo"]), "a\u{0}": fixture(&["echo"]), "x".repeat(201): fixture(&["echo"]),
        "good": fixture(&["echo"]),
    });
    let switchboard = Switchboard::with(&servers);
    let named = switchboard.write("named.json", &json!({"mcpServers": servers}).to_string());
    let mut seen = Vec::new();
    for before in [&[][..], &["--config", named.to_str().unwrap()]] {
        let call = ["call", "good", "echo", "text=still here"];
        let called = switchboard.run(&[before, &call].concat()).expect(0);
        assert_eq!(called.stdout, "still here\n");
        seen.push(transcript(&called));
        switchboard.run(&[before, &["doctor"]].concat()).expect(4);
    }
    insta::assert_snapshot!(seen.join("\n\n"), @r"
    exit status 0
    --- stdout
    still here
    --- stderr
    warning: ``: a server name cannot be empty ([home]/own/config.json:1:[column])
    hint: give it another name
    warning: `a\u{0}`: a server name cannot contain control characters ([home]/own/config.json:1:[column])
    hint: give it another name
    warning: `xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…`: a server name cannot be longer than 200 bytes, this one has 201 ([home]/own/config.json:1:[column])
    hint: give it another name
    warning: ``: a server name cannot be empty ([home]/own/config.json:1:[column])
    hint: give it another name
    warning: `a\u{0}`: a server name cannot contain control characters ([home]/own/config.json:1:[column])
    hint: give it another name
    warning: `xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…`: a server name cannot be longer than 200 bytes, this one has 201 ([home]/own/config.json:1:[column])
    hint: give it another name

    exit status 0
    --- stdout
    still here
    --- stderr
    warning: ``: a server name cannot be empty ([work]/named.json:1:[column])
    hint: give it another name
    warning: `a\u{0}`: a server name cannot contain control characters ([work]/named.json:1:[column])
    hint: give it another name
    warning: `xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…`: a server name cannot be longer than 200 bytes, this one has 201 ([work]/named.json:1:[column])
    hint: give it another name
    warning: ``: a server name cannot be empty ([work]/named.json:1:[column])
    hint: give it another name
    warning: `a\u{0}`: a server name cannot contain control characters ([work]/named.json:1:[column])
    hint: give it another name
    warning: `xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…`: a server name cannot be longer than 200 bytes, this one has 201 ([work]/named.json:1:[column])
    hint: give it another name
    ");
}

#[test]
fn a_file_that_cannot_be_read_leaves_the_built_in_server() {
    let switchboard = Switchboard::new();
    switchboard.write_config("{\"mcpServers\": {\n");
    let listed = switchboard.run(&["tools", "--json"]).expect(0);
    assert_eq!(listed.json().as_array().map(Vec::len), Some(6));
    insta::assert_snapshot!(redacted(&listed.stderr), @"
    warning: unterminated object ([home]/own/config.json:1:[column])
    hint: a `}` is missing
    ");
    switchboard.run(&["doctor"]).expect(4);
    // A file named on the command line is required by this command, so a broken one is an error.
    let file = switchboard.write("named.json", "{");
    switchboard.run(&["--config", file.to_str().unwrap(), "tools"]).expect(3);
}
