//! `doctor` names what is wrong with each server and what to do about it.

use serde_json::{Value, json};
use switchboard_testkit::HttpFixture;

use crate::remote_server::free_port;
use crate::switchboard::{Switchboard, fixture};

#[test]
fn doctor_names_the_problem_and_the_next_step() {
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
    let report = switchboard.run(&["doctor", "--json"]).expect(4).json();
    let servers = report["servers"].as_array().unwrap();
    let text = switchboard.run(&["doctor"]).expect(4).stdout;
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
        assert!(text.contains(&format!("✗ {name}: ")) && text.contains(message), "{text}");
    }
    let ends = servers.iter().find(|server| server["name"] == "ends").unwrap();
    assert_eq!(ends["failure"]["stderr"], json!(["the key is missing"]));
    assert!(text.contains("| the key is missing"), "{text}");
    let well: Vec<&Value> = servers.iter().filter(|server| server["well"] == true).collect();
    let well: Vec<&str> = well.iter().map(|server| server["name"].as_str().unwrap()).collect();
    assert_eq!(well, ["builtin", "off", "well"]);
    assert!(text.contains("13 servers, 10 unhealthy"), "{text}");

    switchboard.run(&["doctor", "well"]).expect(0);
    let logs = switchboard.run(&["servers", "logs", "ends"]).expect(0);
    assert!(logs.stdout.contains("the key is missing"), "{logs:?}");
    let near = switchboard.run(&["doctor", "wel"]).expect(2);
    assert!(near.stderr.contains("did you mean `well`?"), "{near:?}");
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
    assert!(text.contains("offers 1 tool, 0 resources, 0 prompts"), "{text}");
    assert!(text.contains("\n1 server, 0 unhealthy"), "{text}");
    std::fs::create_dir(switchboard.path("switchboard.json")).unwrap();
    let said = switchboard.run(&["servers"]).stderr;
    assert!(said.contains("the file is not a regular file ("), "{said}");
    assert!(said.contains("switchboard.json)"), "{said}");
}

#[test]
fn a_server_that_takes_too_long_is_named_with_what_to_do() {
    let hangs = fixture(&["flaky", "--fault", "hang", "--on", "tools/list", "--times", "always"]);
    let switchboard = Switchboard::with(&json!({"slow": hangs}));
    let report = switchboard.run(&["doctor", "slow", "--start-timeout", "1"]).expect(4);
    assert!(report.stdout.contains("it did not start in time"), "{report:?}");
    assert!(report.stdout.contains("hint: raise `--start-timeout"), "{report:?}");
    let listed = switchboard.run(&["servers", "--start-timeout", "1"]).expect(0);
    assert!(
        listed.stderr.contains("server `slow` is not ready: it did not start in time"),
        "{listed:?}"
    );
}

#[test]
fn tools_that_could_not_be_listed_are_missed() {
    let broken =
        fixture(&["flaky", "--fault", "neither", "--on", "tools/list", "--times", "always"]);
    let switchboard = Switchboard::with(&json!({"mute": broken}));
    let report = switchboard.run(&["doctor", "mute"]).expect(4);
    assert!(report.stdout.contains("✗ mute: ready"), "{report:?}");
    assert!(report.stdout.contains("1 server, 1 unhealthy"), "{report:?}");
    let listed = switchboard.run(&["tools", "--server", "mute"]).expect(0);
    let told = "server `mute`: tools: listing failed";
    assert!(listed.stderr.contains(told), "{listed:?}");
    assert!(listed.stderr.contains("hint: `switchboard doctor mute` shows details"), "{listed:?}");
}
