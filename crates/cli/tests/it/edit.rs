//! `servers add`, `remove`, `enable` and `disable` change the file and keep people's own text.

use crate::switchboard::Switchboard;
use crate::transcript::transcript;

const BEFORE: &str = r#"// My servers.
{
  "mcpServers": {
    // The first one.
    "first": {
      "command": "no-such-program", // Beside the command.
      "mine": "is kept",
    },
  },
}
"#;

#[test]
fn servers_are_added_and_removed_and_comments_stay() {
    let switchboard = Switchboard::new();
    switchboard.write_config(BEFORE);
    switchboard
        .run(&[
            "servers", "add", "second", "-e", "KEY=a=b", "--timeout", "5", "--", "run", "--flag",
        ])
        .expect(0);
    let header = ["-H", "Authorization: Bearer ${TOKEN}", "http://127.0.0.1:9/mcp"];
    switchboard.run(&[&["servers", "add", "web", "-t", "http"], &header[..]].concat()).expect(0);
    assert_eq!(
        switchboard.config_text(),
        r#"// My servers.
{
  "mcpServers": {
    // The first one.
    "first": {
      "command": "no-such-program", // Beside the command.
      "mine": "is kept",
    },
    "second": {
      "command": "run",
      "args": ["--flag"],
      "env": {
        "KEY": "a=b",
      },
      "timeout": 5,
    },
    "web": {
      "type": "http",
      "url": "http://127.0.0.1:9/mcp",
      "headers": {
        "Authorization": "Bearer ${TOKEN}",
      },
    },
  },
}
"#
    );
    for name in ["second", "web"] {
        switchboard.run(&["servers", "remove", name]).expect(0);
    }
    assert_eq!(switchboard.config_text(), BEFORE);
}

#[test]
fn a_name_that_is_taken_is_replaced_only_on_request() {
    let switchboard = Switchboard::new();
    switchboard.write_config(BEFORE);
    let refused = switchboard.run(&["servers", "add", "first", "--", "other"]).expect(3);
    insta::assert_snapshot!(transcript(&refused), @"
    exit status 3
    --- stderr
    error: `first`: a server with this name already exists ([home]/own/config.json)
    hint: `--force` replaces it
    ");
    assert_eq!(switchboard.config_text(), BEFORE);
    switchboard.run(&["servers", "add", "--force", "first", "--", "other"]).expect(0);
    let after = switchboard.config_text();
    assert!(
        after.contains(r#""command": "other""#) && after.contains("// The first one."),
        "{after}"
    );
    let unknown = switchboard.run(&["servers", "remove", "nobody"]).expect(2);
    insta::assert_snapshot!(transcript(&unknown), @"
    exit status 2
    --- stderr
    error: unknown server `nobody`
    hint: `switchboard servers` lists them
    ");
    let near = switchboard.run(&["servers", "remove", "frist"]).expect(2);
    insta::assert_snapshot!(transcript(&near), @"
    exit status 2
    --- stderr
    error: unknown server `frist`
    hint: did you mean `first`?
    ");
    // A malformed address is not taken for a command either.
    let odd = switchboard.run(&["servers", "add", "odd", "ftp://example.com"]).expect(3);
    insta::assert_snapshot!(transcript(&odd), @"
    exit status 3
    --- stderr
    error: `odd`: `url` is neither `http://` nor `https://` ([home]/own/config.json)
    hint: write `https://host/path`
    ");
    assert_eq!(switchboard.config_text(), after);
}

#[test]
fn a_disabled_server_is_not_started_and_its_calls_are_not_allowed() {
    let switchboard = Switchboard::new();
    let trace = switchboard.path("trace");
    let fixture = switchboard_testkit::binary();
    let words = ["servers", "add", "echo", "--", fixture.to_str().unwrap(), "echo", "--trace"];
    switchboard.run(&[&words[..], &[trace.to_str().unwrap()]].concat()).expect(0);
    switchboard.run(&["servers", "disable", "echo"]).expect(0);
    assert!(switchboard.config_text().contains(r#""disabled": true"#));
    assert_eq!(switchboard.status("echo"), ["disabled", ""]);
    let refused = switchboard.call(&["echo", "echo", "text=a"], 5);
    assert_eq!([&refused["outcome"], &refused["reason"]], ["not_sent", "disabled"]);
    assert!(!trace.exists(), "a disabled server was started");

    switchboard.run(&["servers", "enable", "echo"]).expect(0);
    assert_eq!(switchboard.run(&["call", "echo", "echo", "text=a"]).expect(0).stdout, "a\n");
    switchboard.run(&["servers", "disable", "builtin"]).expect(0);
    assert_eq!(switchboard.status("builtin"), ["disabled", ""]);
    switchboard.run(&["servers", "restart", "echo"]).expect(0);
}

#[test]
fn a_server_that_waits_for_a_person_is_not_waited_for() {
    let switchboard = Switchboard::new();
    switchboard.run(&["servers", "disable", "builtin"]).expect(0);
    let started = std::time::Instant::now();
    let refused = switchboard.run(&["servers", "restart", "builtin"]);
    assert_ne!(refused.code, 0, "{refused:?}");
    assert!(started.elapsed() < std::time::Duration::from_secs(10), "{:?}", started.elapsed());
}
