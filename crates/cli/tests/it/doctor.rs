//! `doctor` names the fault of each server and its remedy.

use serde_json::{Value, json};
use switchboard_testkit::HttpFixture;

use crate::remote_server::free_port;
use crate::switchboard::{Switchboard, fixture};
use crate::transcript::{redacted, transcript};

/// One server for every failure that has its own hint, a healthy one and a disabled one.
struct AilingServers {
    switchboard: Switchboard,
    _page: HttpFixture,
    _well: HttpFixture,
}

fn ailing_servers() -> AilingServers {
    let page = HttpFixture::start(&[
        "flaky", "--transport", "http", "--fault", "html", "--on", "any", "--times", "always",
    ]);
    let well = HttpFixture::start(&["echo", "--transport", "http"]);
    let switchboard = Switchboard::with(&json!({
        "not-found": {"command": "no-such-program"},
        "not-there": {"command": "/nowhere/program"},
        "ends": {
            "command": "/bin/sh",
            "args": ["-c", "echo the key is missing >&2; exit 3"],
            "dangerous": ["eval"],
        },
        "says-nothing": {"command": "true"},
        "no-folder": {"command": "true", "cwd": "/nowhere"},
        "one-line": {"command": "no-such-program --flag"},
        "nobody": {"url": format!("http://127.0.0.1:{}/mcp", free_port())},
        "wrong-path": {"url": format!("{}/elsewhere", well.origin())},
        "page": {"url": page.url},
        "broken": {"args": []},
        "well": fixture(&["echo"]),
        "off": {"command": "no-such-program", "disabled": true},
    }));
    AilingServers { switchboard, _page: page, _well: well }
}

#[test]
fn doctor_names_the_problem_and_the_next_step() {
    let ailing = ailing_servers();
    let switchboard = &ailing.switchboard;
    let report = switchboard.run(&["doctor", "--json"]).expect(4).json();
    let servers = report["servers"].as_array().unwrap();
    for (name, message, hint) in [
        ("not-found", "the command `no-such-program` was not found on PATH", "install"),
        ("not-there", "program `/nowhere/program` not found", "full path"),
        ("ends", "the server exited: exit status 3", ""),
        ("says-nothing", "the server exited: exit status 0", "run the command in a terminal"),
        ("no-folder", "folder `/nowhere` not found", "`cwd`"),
        ("one-line", "was not found on PATH", "put its arguments into `args`"),
        ("nobody", "refused", "check that the server is running"),
        ("wrong-path", "404", "path"),
        ("page", "text/html", "check that `url` is the address of an MCP server"),
        ("broken", "has neither `command` nor `url`", "give a `command`"),
    ] {
        let server = servers.iter().find(|server| server["name"] == name).unwrap();
        assert_eq!(server["well"], false, "{server}");
        let failure = &server["failure"];
        let found =
            |key: &str, part: &str| failure[key].as_str().unwrap_or_default().contains(part);
        assert!(found("message", message), "no `{message}` in {server}");
        assert!(failure["hint"].is_string() && found("hint", hint), "no `{hint}` in {server}");
    }
    let ends = servers.iter().find(|server| server["name"] == "ends").unwrap();
    assert_eq!(ends["failure"]["stderr"], json!(["the key is missing"]));
    let well: Vec<&Value> = servers.iter().filter(|server| server["well"] == true).collect();
    let well: Vec<&str> = well.iter().map(|server| server["name"].as_str().unwrap()).collect();
    assert_eq!(well, ["builtin", "off", "well"]);

    switchboard.run(&["doctor", "well"]).expect(0);
    let logs = switchboard.run(&["servers", "logs", "ends"]).expect(0);
    assert!(logs.stdout.contains("the key is missing"), "{logs:?}");
    let near = switchboard.run(&["doctor", "wel"]).expect(2);
    insta::assert_snapshot!(transcript(&near), @"
    exit status 2
    --- stderr
    error: unknown server `wel`
    hint: did you mean `well`?
    ");
}

#[test]
fn doctor_reports_each_server_in_words() {
    let ailing = ailing_servers();
    let text = ailing.switchboard.run(&["doctor"]).expect(4).stdout;
    insta::assert_snapshot!(redacted(&text), @"
    file    [home]/own/config.json (read)
    file    [work]/switchboard.json (missing)
    file    [home]/system/policy.json (missing)
    file    [work]/.switchboard/policy.json (missing)
    file    [home]/own/policy.json (missing)
    record  [home]/own/state (ok)

    ✗ broken: failed
        `broken`: has neither `command` nor `url` ([home]/own/config.json:1:[column])
        hint: give a `command` for a program, or a `url` for a remote server

    ✓ builtin: ready
        built in
        speaks 2026-07-28, offers 6 tools, 2 resources, 1 prompt
        noted: tool echo
          same_name (inform) at /name: echo

    ✗ ends: waiting to retry
        /bin/sh -c 'echo the key is missing >&2; exit 3'
        danger: `sh` runs program text out of -c, not a program (eval)
        the server exited: exit status 3
        process: exit status 3
        | the key is missing
        hint: see its complete log with `switchboard servers logs ends`

    ✗ no-folder: waiting to retry
        true
        folder `/nowhere` not found
        hint: create it, or correct `cwd` in the configuration

    ✗ nobody: waiting to retry
        http://127.0.0.1:[port]/mcp
        cannot connect to `http://127.0.0.1:[port]/mcp`: nothing was sent: no connection: Connection refused (os error [number])
        hint: check that the server is running and that `url` is correct

    ✗ not-found: waiting to retry
        no-such-program
        the command `no-such-program` was not found on PATH
        hint: install `no-such-program`, or set `command` to its full path

    ✗ not-there: waiting to retry
        /nowhere/program
        program `/nowhere/program` not found
        hint: set `command` to the full path of the program

    ✓ off: disabled
        no-such-program

    ✗ one-line: waiting to retry
        'no-such-program --flag'
        the command `no-such-program --flag` was not found on PATH
        hint: `command` is only the program; put its arguments into `args`

    ✗ page: waiting to retry
        http://127.0.0.1:[port]/mcp
        cannot connect to `http://127.0.0.1:[port]/mcp`: the answer violates the protocol: HTTP status 200 OK with a body of type `text/html`
        hint: check that `url` is the address of an MCP server

    ✗ says-nothing: waiting to retry
        true
        the server exited: exit status 0
        process: exit status 0
        hint: run the command in a terminal: an MCP server waits for requests on its input

    ✓ well: ready
        switchboard-testkit echo
        speaks 2026-07-28, offers 11 tools, 3 resources, 1 prompt
        noted: tool echo
          same_name (inform) at /name: echo

    ✗ wrong-path: waiting to retry
        http://127.0.0.1:[port]/elsewhere
        cannot connect to `http://127.0.0.1:[port]/elsewhere`: HTTP status 404
        hint: check the path of the server's `url`

    13 servers, 10 unhealthy, checked in [duration]
    ");
}

#[test]
fn doctor_counts_in_words_and_says_which_file_it_means() {
    let switchboard = Switchboard::new();
    let offers = json!({"tools": [{"name": "a", "inputSchema": {"type": "object"}}]});
    let file = switchboard.write("offers.json", &offers.to_string());
    let given = fixture(&["given", "--offers", file.to_str().unwrap()]);
    let off = json!({"disabled": true});
    switchboard.configure(&json!({"one": given, "builtin": off}));
    let text = switchboard.run(&["doctor", "one"]).expect(0).stdout;
    insta::assert_snapshot!(redacted(&text), @"
    file    [home]/own/config.json (read)
    file    [work]/switchboard.json (missing)
    file    [home]/system/policy.json (missing)
    file    [work]/.switchboard/policy.json (missing)
    file    [home]/own/policy.json (missing)
    record  [home]/own/state (ok)

    ✓ one: ready
        switchboard-testkit given --offers [work]/offers.json
        speaks 2026-07-28, offers 1 tool, 0 resources, 0 prompts

    1 server, 0 unhealthy, checked in [duration]
    ");
    std::fs::create_dir(switchboard.path("switchboard.json")).unwrap();
    let said = switchboard.run(&["servers"]).stderr;
    insta::assert_snapshot!(redacted(&said), @"
    warning: the file is not a regular file ([work]/switchboard.json)
    hint: use a regular text file
    ");
}

#[test]
fn a_server_that_takes_too_long_is_named_with_what_to_do() {
    let hangs = fixture(&["flaky", "--fault", "hang", "--on", "tools/list", "--times", "always"]);
    let switchboard = Switchboard::with(&json!({"slow": hangs}));
    let report = switchboard.run(&["doctor", "slow", "--start-timeout", "1"]).expect(4);
    insta::assert_snapshot!(transcript(&report), @"
    exit status 4
    --- stdout
    file    [home]/own/config.json (read)
    file    [work]/switchboard.json (missing)
    file    [home]/system/policy.json (missing)
    file    [work]/.switchboard/policy.json (missing)
    file    [home]/own/policy.json (missing)
    record  [home]/own/state (ok)

    ✗ slow: starting
        switchboard-testkit flaky --fault hang --on tools/list --times always
        it did not start in time
        hint: raise `--start-timeout SECONDS`, or read its log with `switchboard servers logs NAME`

    1 server, 1 unhealthy, checked in [duration]
    ");
    let listed = switchboard.run(&["servers", "--start-timeout", "1"]).expect(0);
    insta::assert_snapshot!(transcript(&listed), @"
    exit status 0
    --- stdout
    builtin	ready	built in	2026-07-28	6	2	1	
    slow	starting	switchboard-testkit flaky --fault hang --on tools/list --times always		0	0	0
    --- stderr
    warning: server `slow` is not ready: it did not start in time
    hint: raise `--start-timeout SECONDS`, or read its log with `switchboard servers logs NAME`
    ");
}

#[test]
fn tools_that_could_not_be_listed_are_missed() {
    let broken =
        fixture(&["flaky", "--fault", "neither", "--on", "tools/list", "--times", "always"]);
    let switchboard = Switchboard::with(&json!({"mute": broken}));
    let report = switchboard.run(&["doctor", "mute"]).expect(4);
    insta::assert_snapshot!(transcript(&report), @"
    exit status 4
    --- stdout
    file    [home]/own/config.json (read)
    file    [work]/switchboard.json (missing)
    file    [home]/system/policy.json (missing)
    file    [work]/.switchboard/policy.json (missing)
    file    [home]/own/policy.json (missing)
    record  [home]/own/state (ok)

    ✗ mute: ready
        switchboard-testkit flaky --fault neither --on tools/list --times always
        speaks 2026-07-28, offers 0 tools, 3 resources, 1 prompt
        left out: tools: listing failed: the answer violates the protocol: it has neither a result nor an error

    1 server, 1 unhealthy, checked in [duration]
    ");
    let listed = switchboard.run(&["tools", "--server", "mute"]).expect(0);
    insta::assert_snapshot!(transcript(&listed), @"
    exit status 0
    --- stderr
    warning: server `mute`: tools: listing failed: the answer violates the protocol: it has neither a result nor an error
    hint: `switchboard doctor mute` shows details
    ");
}
