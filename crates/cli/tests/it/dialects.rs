//! `import`, `export` and `connect`: servers of other products, in a home made up for the test.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::running::started_pids;
use crate::switchboard::Switchboard;
use crate::transcript::transcript;

/// Writes a file below the home folder.
fn at_home(switchboard: &Switchboard, name: &str, text: &str) -> PathBuf {
    let path = switchboard.folder().join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    path
}

fn read(path: &PathBuf) -> String {
    std::fs::read_to_string(path).unwrap()
}

/// Returns a home in which four products are installed, and one file is broken.
fn lived_in() -> Switchboard {
    let switchboard = Switchboard::new();
    let fixture = switchboard_testkit::binary();
    let trace = switchboard.text_path("trace");
    let cursor = json!({"mcpServers": {
        "echo": {"command": fixture, "args": ["echo", "--trace", trace]},
        "wiki": {"url": "https://wiki.example.com/mcp", "headers": {"Authorization": "Bearer ${env:WIKI}"}},
    }});
    at_home(&switchboard, ".cursor/mcp.json", &cursor.to_string());
    at_home(
        &switchboard,
        ".codex/config.toml",
        "[mcp_servers.echo]\ncommand = \"other-echo\"\n\n\
         [mcp_servers.shell]\ncommand = \"sh\"\nargs = [\"-c\", \"exec server\"]\n\n\
         [mcp_servers.key]\ncommand = \"key-server\"\nenv = { API_TOKEN = \"abcdefgh12345678\" }\n",
    );
    at_home(
        &switchboard,
        ".config/goose/config.yaml",
        "extensions:\n  wiki:\n    name: wiki\n    type: streamable_http\n    \
         uri: https://wiki.example.com/mcp\n    enabled: true\n",
    );
    at_home(&switchboard, ".config/zed/settings.json", "{ \"context_servers\": ");
    switchboard.write(".mcp.json", r#"{"mcpServers": {"near": {"command": "./near"}, "bad": 1}}"#);
    switchboard
}

fn actions(plan: &Value) -> Vec<String> {
    let servers = plan["servers"].as_array().unwrap().iter();
    let text = |server: &Value, key: &str| server[key].as_str().unwrap_or("-").to_owned();
    let line = |server: &Value| {
        let [from, name, action, under] =
            ["from", "name", "action", "under"].map(|key| text(server, key));
        format!("{from} {name}: {action} {under}")
    };
    servers.map(line).collect()
}

#[test]
fn what_is_installed_is_shown_taken_once_and_runs() {
    let switchboard = lived_in();
    let plan = switchboard.json(&["import", "--dry-run"]);
    let expected = [
        "claude-code near: add near",
        "cursor echo: add echo",
        "cursor wiki: add wiki",
        "codex echo: add echo-2",
        "codex key: add key",
        "codex shell: add shell",
        "goose wiki: duplicate wiki",
    ];
    let mut found = actions(&plan);
    found.sort_by_key(|line| expected.iter().position(|other| other == line));
    assert_eq!(found, expected, "{plan}");
    assert_eq!(plan["unreadable"].as_array().unwrap().len(), 1, "{plan}");
    assert_eq!(plan["left_out"][0]["server"], "bad", "{plan}");
    assert_eq!(switchboard.config_text(), "");

    let refused = switchboard.run(&["import"]).expect(5);
    insta::assert_snapshot!(transcript(&refused), @"
    exit status 5
    --- stdout
    near	import	Claude Code (project)	[work]/./near	[work]/.mcp.json
    echo	import	Cursor (user)	switchboard-testkit echo --trace [work]/trace	[home]/.cursor/mcp.json
    wiki	import	Cursor (user)	https://wiki.example.com/mcp	[home]/.cursor/mcp.json
    echo	import as `echo-2`	Codex (user)	other-echo	[home]/.codex/config.toml
    shell	import	Codex (user)	sh -c 'exec server'	[home]/.codex/config.toml
    key	import	Codex (user)	key-server	[home]/.codex/config.toml
    wiki	already configured as `wiki`	Goose (user)	https://wiki.example.com/mcp	[home]/.config/goose/config.yaml
    --- stderr
    `near` runs: [work]/./near
    `echo` runs: switchboard-testkit echo --trace [work]/trace
    `wiki` is at: https://wiki.example.com/mcp
      with headers.Authorization
    `echo-2` runs: other-echo
    `shell` runs: sh -c 'exec server'
    `shell`: danger: `sh` runs program text out of -c, not a program (eval)
    hint: it does not start until you run `switchboard servers approve shell`
    `key` runs: key-server
      with env.API_TOKEN
    note: `key`: `env.API_TOKEN` is a plain-text secret
    hint: run `switchboard secrets set API_TOKEN --server key`, then replace the value with `${keyring:API_TOKEN}`
    left out: `bad`: must be an object, not a number ([work]/.mcp.json)
    warning: `[home]/.config/zed/settings.json`: line 1: Expected value after colon in object property
    hint: correct the file in an editor
    error: approval needed, but there is no terminal to ask on
    hint: review it with `--dry-run`, then pass `--yes`
    ");
    assert_eq!(switchboard.config_text(), "");

    let taken = switchboard.run(&["import", "--yes"]).expect(0);
    for part in [
        "from a project's file; to import it, name `",
        "`switchboard servers approve shell`",
        "`switchboard secrets set API_TOKEN --server key`",
        "already configured as `wiki`",
        ".config/zed/settings.json",
    ] {
        assert!(format!("{}{}", taken.stdout, taken.stderr).contains(part), "{part}: {taken:?}");
    }
    switchboard.run(&["import", "--yes", ".mcp.json"]).expect(0);
    let file: Value = serde_json::from_str(&switchboard.config_text()).unwrap();
    let servers = file["mcpServers"].as_object().unwrap();
    let names: Vec<&String> = servers.keys().collect();
    assert_eq!(names, ["echo", "echo-2", "key", "near", "shell", "wiki"]);
    assert_eq!(
        servers["wiki"],
        json!({"url": "https://wiki.example.com/mcp", "headers": {"Authorization": "Bearer ${WIKI}"}})
    );
    let folder = switchboard.path("");
    let folder = folder.to_str().unwrap().trim_end_matches('/');
    let near = json!({"command": format!("{folder}/./near"), "cwd": folder});
    assert_eq!(servers["near"], near);

    assert!(!switchboard.path("trace").exists(), "importing started a server");
    assert_eq!(switchboard.run(&["call", "echo", "echo", "text=a"]).expect(0).stdout, "a\n");
    assert_eq!(started_pids(&switchboard.path("trace")).len(), 1);
    let call = switchboard.call(&["shell", "echo", "text=a"], 5);
    assert_eq!([&call["outcome"], &call["reason"]], ["not_sent", "not_approved"]);

    let again = switchboard.json(&["import", "--yes"]);
    assert!(actions(&again).iter().all(|line| line.contains(": duplicate ")), "{again}");
}

#[test]
fn a_person_is_shown_everything_and_asked() {
    let switchboard = Switchboard::new();
    switchboard.write(".mcp.json", r#"{"mcpServers": {"near": {"command": "./near"}}}"#);
    for (said, taken) in [("n\n", 0), ("y\n", 1)] {
        let mut asked = switchboard.in_terminal(&["import"]);
        asked.wait_for("[y/N]");
        asked.say(said);
        let ran = asked.finish_within(crate::running::TEST_TIMEOUT);
        assert!(ran.stdout.contains("`near` runs: "), "{ran:?}");
        assert_eq!(switchboard.config_text().matches("near\": {").count(), taken, "{ran:?}");
    }
}

#[test]
fn a_file_and_a_link_can_be_named() {
    let switchboard = Switchboard::new();
    let file = "{\"servers\": {\"one\": {\"command\": \"one\", \"env\": {\"K\": \"${input:k}\"}}}}";
    switchboard.write("some.json", file);
    switchboard.run(&["import", "--yes", "some.json"]).expect(0);
    let link =
        switchboard.run(&["export", "--to", "cursor", "--servers", "one", "--link"]).expect(0);
    insta::assert_snapshot!(transcript(&link), @"
    exit status 0
    --- stdout
    cursor://anysphere.cursor-deeplink/mcp/install?name=one&config=eyJjb21tYW5kIjoib25lIiwiZW52Ijp7IksiOiIke2VudjprfSJ9fQ%3D%3D
    --- stderr
    changed for Cursor: `one`: `env.K` differs: `${keyring:k}` is read from the variable `k`
    ");
    let other = Switchboard::new();
    let refused = other.run(&["import", link.stdout.trim()]).expect(5);
    insta::assert_snapshot!(transcript(&refused), @"
    exit status 5
    --- stdout
    one	import	Cursor (link)	one	a link of Cursor
    --- stderr
    `one` runs: one
      with env.K
    error: approval needed, but there is no terminal to ask on
    hint: review it with `--dry-run`, then pass `--yes`
    ");
    other.run(&["import", "--yes", link.stdout.trim()]).expect(0);
    let taken: Value = serde_json::from_str(&other.config_text()).unwrap();
    assert_eq!(taken["mcpServers"]["one"], json!({"command": "one", "env": {"K": "${k}"}}));

    for (words, code) in [
        (vec!["import", "nowhere.json"], 2),
        (vec!["import", "cursor://anysphere.cursor-deeplink/mcp/install?name=a"], 2),
        (vec!["import", "--from", "nobody"], 2),
        (vec!["export", "--to", "zed", "--link"], 2),
        (vec!["export", "--to", "zed", "--url", "http://127.0.0.1:1/mcp"], 2),
        (vec!["export", "--to", "zed", "--servers", "nobody"], 2),
        (vec!["export", "--to", "zed", "--servers", "builtin"], 3),
    ] {
        other.run(&words).expect(code);
    }
    other.write("broken.json", "{");
    other.run(&["import", "--from", "cursor", "broken.json"]).expect(3);
}

const VSCODE: &str = r#"{
  // Mine.
  "servers": {
    "kept": { "command": "kept" }, // beside
  },
}
"#;

#[test]
fn servers_are_written_for_another_product_and_taken_back() {
    let switchboard = Switchboard::with(&json!({
        "files": {"command": "files", "args": ["${userHome}"], "timeout": 5},
        "off": {"command": "off", "disabled": true},
    }));
    let file = at_home(&switchboard, ".config/Code/User/mcp.json", VSCODE);
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();

    let dry = switchboard.run(&["export", "--to", "vscode", "--dry-run"]).expect(0);
    insta::assert_snapshot!(transcript(&dry), @r#"
    exit status 0
    --- stdout
    +     "files": {
    +       "type": "stdio",
    +       "command": "files",
    +       "args": ["${userHome}"],
    +     },
    --- stderr
    lost for VS Code: `files`: `timeout` is not supported there
    left out for VS Code: `off`: is disabled, which is not supported there
    "#);
    assert_eq!(read(&file), VSCODE);

    let written = switchboard.json(&["export", "--to", "vscode"]);
    let backup = PathBuf::from(written["backup"].as_str().unwrap());
    assert_eq!(written["servers"], json!([["files", "files"], ["off", null]]));
    assert_eq!(read(&backup), VSCODE);
    let after = r#"{
  // Mine.
  "servers": {
    "kept": { "command": "kept" }, // beside
    "files": {
      "type": "stdio",
      "command": "files",
      "args": ["${userHome}"],
    },
  },
}
"#;
    assert_eq!(read(&file), after);
    for path in [&file, &backup] {
        let mode = std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o640, "{}", path.display());
    }
    let again = switchboard.json(&["export", "--to", "vscode"]);
    assert_eq!([&again["changed"], &again["backup"]], [&json!(false), &Value::Null]);

    switchboard.run(&["export", "--undo", "--to", "cursor"]).expect(2);
    std::fs::write(&file, after.replace("Mine", "Yours")).unwrap();
    let refused = switchboard.run(&["export", "--undo"]).expect(5);
    insta::assert_snapshot!(transcript(&refused), @"
    exit status 5
    --- stderr
    error: `[home]/.config/Code/User/mcp.json` has changed since the export, so it is not restored
    hint: the previous content is in `[home]/.config/Code/User/mcp.json.switchboard-backup-[time]`
    ");
    std::fs::write(&file, after).unwrap();
    switchboard.run(&["export", "--undo", "--to", "vscode"]).expect(0);
    assert_eq!(read(&file), VSCODE);
    assert!(!backup.exists());
    switchboard.run(&["export", "--undo"]).expect(2);
}

#[test]
fn a_product_is_led_to_the_gateway_and_back() {
    let switchboard = Switchboard::new();
    let file = switchboard.folder().join(".claude.json");
    switchboard.run(&["connect", "claude-code"]).expect(0);
    let value: Value = serde_json::from_str(&read(&file)).unwrap();
    let entry = &value["mcpServers"]["switchboard"];
    assert_eq!(entry["args"], json!(["serve", "--stdio"]));
    assert_eq!(entry["env"]["SWITCHBOARD_HOME"], json!(switchboard.folder().join("own")));

    // The written entry is a command line that runs.
    let mut command = std::process::Command::new(entry["command"].as_str().unwrap());
    command.args(["serve", "--stdio"]);
    switchboard.surround(&mut command);
    let mut running = crate::running::RunningProcess::start(&mut command);
    running.say(
        &(json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        }})
        .to_string()
            + "\n"),
    );
    running.wait_for("\"serverInfo\"");
    running.close_input();
    running.finish_within(crate::running::TEST_TIMEOUT).expect(0);

    // `import` recognizes Switchboard's own entry and does not offer it as a foreign server.
    let plan = switchboard.json(&["import", "--dry-run"]);
    assert_eq!(actions(&plan), ["claude-code switchboard: ourselves -"]);

    let url = ["connect", "zed", "--url", "http://127.0.0.1:8808/mcp"];
    switchboard.run(&url).expect(0);
    let zed = switchboard.folder().join(".config/zed/settings.json");
    assert!(read(&zed).contains("\"url\": \"http://127.0.0.1:8808/mcp\""));
    let project = ["connect", "cursor", "--scope", "project", "--dry-run"];
    let dry = switchboard.run(&project).expect(0);
    insta::assert_snapshot!(transcript(&dry), @r#"
    exit status 0
    --- stdout
    + {
    +   "mcpServers": {
    +     "switchboard": {
    +       "command": "switchboard",
    +       "args": ["serve", "--stdio"],
    +       "env": {
    +         "SWITCHBOARD_HOME": "[home]/own"
    +       }
    +     }
    +   }
    + }
    --- stderr
    Cursor does not seem to be installed here
    "#);
    assert!(!switchboard.path(".cursor").exists());
    let desktop = ["connect", "claude-desktop", "--url", "http://127.0.0.1:8808/mcp"];
    let refused = switchboard.run(&desktop).expect(3);
    insta::assert_snapshot!(transcript(&refused), @"
    exit status 3
    --- stderr
    left out for Claude Desktop: `switchboard`: has a URL, but Claude Desktop only starts programs
    error: Claude Desktop supports none of these servers
    ");

    switchboard.run(&["connect", "--undo", "claude-code"]).expect(0);
    assert!(!file.exists());
    switchboard.run(&["connect", "--undo"]).expect(0);
    assert!(!zed.exists());
}

#[test]
fn a_link_in_the_file_system_is_told_of_and_stays_one() {
    let switchboard = Switchboard::new();
    let real = at_home(&switchboard, "dotfiles/cursor.json", "{}\n");
    let link = switchboard.folder().join(".cursor/mcp.json");
    std::fs::create_dir_all(link.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    let done = switchboard.run(&["connect", "cursor"]).expect(0);
    insta::assert_snapshot!(transcript(&done), @"
    exit status 0
    --- stderr
    [home]/.cursor/mcp.json is a symbolic link to [home]/dotfiles/cursor.json
    wrote `switchboard` to [home]/.cursor/mcp.json
    the previous content is in [home]/dotfiles/cursor.json.switchboard-backup-[time]
    hint: `switchboard export --undo --to cursor` reverts this
    ");
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(read(&real).contains("serve"));
    switchboard.run(&["connect", "--undo"]).expect(0);
    assert_eq!(read(&real), "{}\n");
}

#[test]
fn a_file_that_cannot_be_read_is_left_alone() {
    let switchboard = Switchboard::with(&json!({"files": {"command": "files"}}));
    let file = at_home(&switchboard, ".codex/config.toml", "[mcp_servers\n");
    let refused = switchboard.run(&["export", "--to", "codex"]).expect(3);
    insta::assert_snapshot!(transcript(&refused), @"
    exit status 3
    --- stderr
    error: `[home]/.codex/config.toml` cannot be changed: line 1: unclosed table, expected `]`
    hint: correct the file in an editor
    ");
    assert_eq!(read(&file), "[mcp_servers\n");
    let folder = std::fs::read_dir(file.parent().unwrap()).unwrap();
    assert_eq!(folder.count(), 1, "something was left beside it");
}

#[test]
fn what_nobody_approved_is_not_handed_out() {
    let switchboard = Switchboard::with(&json!({
        "mine": {"command": "mine"},
        "unset": {"command": "unset", "env": {"A": "${NOBODY_SETS_THIS}"}},
        "eval": {"command": "sh", "args": ["-c", "$(${NOBODY_SETS_THIS})"]},
        "agreed": {"command": "sh", "args": ["-c", "server"], "dangerous": ["eval"]},
    }));
    let project = json!({"mcpServers": {
        "theirs": {"command": "theirs"},
        "theirs-unset": {"command": "theirs", "env": {"A": "${NOBODY_SETS_THIS}"}},
    }});
    switchboard.write("switchboard.json", &project.to_string());
    let words = ["export", "--to", "cursor", "--file", "out.json"];
    let done = switchboard.run(&words).expect(0);
    insta::assert_snapshot!(transcript(&done), @"
    exit status 0
    --- stderr
    warning: `theirs` is not exported: it is not approved
    hint: `switchboard servers approve theirs`
    warning: `eval` is not exported: it is not approved
    hint: `switchboard servers approve eval`
    warning: `theirs-unset` is not exported: it is not approved
    hint: `switchboard servers approve theirs-unset`
    wrote `agreed`, `mine`, `unset` to [work]/out.json
    hint: `switchboard export --undo --to cursor` reverts this
    ");
    let out: Value = serde_json::from_str(&read(&switchboard.path("out.json"))).unwrap();
    let expected = json!({"mcpServers": {
        "agreed": {"command": "sh", "args": ["-c", "server"]},
        "mine": {"command": "mine"},
        "unset": {"command": "unset", "env": {"A": "${env:NOBODY_SETS_THIS}"}},
    }});
    assert_eq!(out, expected);
}

#[test]
fn cf_06_what_a_long_link_would_run_is_shown_whole_and_waits() {
    let switchboard = Switchboard::new();
    let padding = "x ".repeat(2_048);
    let line = format!("true {padding}; touch hidden-at-the-end");
    let server = json!({"name": "nice", "command": "sh", "args": ["-c", line]}).to_string();
    let coded: String = server.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let link = format!("vscode:mcp/install?{coded}");
    let asked = switchboard.run(&["import", &link]).expect(5);
    assert!(asked.stderr.contains(&format!("`nice` runs: sh -c '{line}'")), "{asked:?}");
    assert!(asked.stderr.contains("danger: `sh` runs program text out of -c"), "{asked:?}");
    assert_eq!(switchboard.config_text(), "");
    switchboard.run(&["import", "--yes", &link]).expect(0);
    assert_eq!(switchboard.status("nice"), ["needs approval", ""]);
    assert!(!switchboard.path("hidden-at-the-end").exists());
}
