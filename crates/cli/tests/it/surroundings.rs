//! Tests of the environment of a server: a few variables, three pipes, and no secrets but its own.

use std::collections::BTreeSet;

use serde_json::json;

use crate::switchboard::{Switchboard, fixture, result_text};
use crate::transcript::{redacted, transcript};

/// Returns a server that records its variables, its open files and its parent's variables.
fn observer(switchboard: &Switchboard) -> String {
    let program = switchboard_testkit::binary();
    let [variables, files, parent] =
        ["variables", "files", "parent"].map(|name| switchboard.text_path(name));
    let text = format!(
        "#!/bin/sh\nenv > '{variables}'\nls /proc/self/fd > '{files}'\n\
         cat /proc/$PPID/environ > '{parent}'\nexec '{}' echo\n",
        program.display()
    );
    let path = switchboard.write("observer.sh", &text);
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&path, mode).unwrap();
    path.to_str().unwrap().to_owned()
}

fn read(switchboard: &Switchboard, name: &str) -> String {
    String::from_utf8_lossy(&std::fs::read(switchboard.path(name)).unwrap()).into_owned()
}

const ALLOWED: [&str; 16] = [
    "PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TERM", "TMPDIR", "TZ", "USER", "SHELL",
    "LOGNAME", "OWN", // And what a shell sets by itself.
    "PWD", "OLDPWD", "SHLVL", "_",
];

#[test]
fn en_01_a_server_gets_the_safe_variables_and_its_own_and_no_other() {
    let mut switchboard = Switchboard::new();
    let program = observer(&switchboard);
    for name in
        ["AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "ANTHROPIC_API_KEY", "MY_VARIABLE", "LD_X"]
    {
        switchboard.set(name, "hunter2-hunter2");
    }
    switchboard.configure(&json!({"it": {"command": program, "env": {"OWN": "value"}}}));
    switchboard.run(&["call", "it", "echo", "text=a"]).expect(0);
    let text = read(&switchboard, "variables");
    let names: BTreeSet<&str> =
        text.lines().filter_map(|line| line.split_once('=')).map(|(name, _)| name).collect();
    let others: Vec<&&str> = names.iter().filter(|name| !ALLOWED.contains(name)).collect();
    assert!(others.is_empty(), "{others:?}");
    assert!(names.contains("OWN") && names.contains("PATH"), "{text}");
    assert!(!text.contains("hunter2"), "{text}");
    // The keeper, which is the server's parent, does not have them either.
    assert!(!read(&switchboard, "parent").contains("hunter2"));
}

#[test]
fn en_03_a_server_has_its_three_pipes_and_nothing_else_open() {
    let switchboard = Switchboard::new();
    let program = observer(&switchboard);
    switchboard.configure(&json!({"it": {"command": program}, "other": fixture(&["echo"])}));
    switchboard.run(&["call", "it", "echo", "text=a"]).expect(0);
    let files = read(&switchboard, "files");
    let open: Vec<u32> = files.lines().filter_map(|line| line.parse().ok()).collect();
    // The fourth is the listed folder itself.
    assert_eq!(open, [0, 1, 2, 3], "{files}");
}

#[test]
fn en_05_a_secret_among_the_arguments_is_warned_about_and_not_repeated() {
    let switchboard = Switchboard::new();
    let secret = format!("ghp_{}", "a1B2c3D4".repeat(4));
    let entry = json!({"command": "no-such-program", "args": ["--token", secret]});
    switchboard.configure(&json!({"it": entry}));
    for words in [
        &["servers", "show", "it"][..],
        &["servers"],
        &["servers", "--json"],
        &["doctor"],
        &["doctor", "--json"],
    ] {
        let ran = switchboard.run(words);
        assert!(!ran.stdout.contains(&secret) && !ran.stderr.contains(&secret), "{ran:?}");
    }
    let shown = switchboard.run(&["servers", "show", "it"]).expect(0).stdout;
    insta::assert_snapshot!(redacted(&shown), @"
    it ([home]/own/config.json, line 1)
        command  no-such-program
        args[0]  --token
        args[1]  [redacted]
        note: `args[1]` looks like a secret; all users of this machine can see arguments, so set it in `env` instead (secret)
        approved
    ");
    let added =
        switchboard.run(&["servers", "add", "two", "--", "x", "--token", &secret]).expect(0);
    insta::assert_snapshot!(transcript(&added), @"
    exit status 0
    --- stderr
    `two` runs: x --token [redacted]
      note: `args[1]` looks like a secret; all users of this machine can see arguments, so set it in `env` instead (secret)
    added `two` to [home]/own/config.json
    hint: `switchboard doctor two` checks it
    ");
    assert!(!added.stderr.contains(&secret), "{added:?}");
}

#[test]
fn a_file_of_variables_may_have_values_of_several_lines() {
    let switchboard = Switchboard::new();
    let mut entry = fixture(&["echo"]);
    entry["envFile"] = json!("vars");
    switchboard.configure(&json!({"it": entry}));
    let key = "-----BEGIN-----\nab # cd\n-----END-----\n";
    let own = switchboard.folder().join("own/vars");
    std::fs::write(&own, format!("A=1\r\nPEM=\"{key}\" # ours\nB='x\ny'\nC=2\n")).unwrap();
    let told = switchboard.call(&["it", "environment"], 0);
    let variables: serde_json::Value = serde_json::from_str(result_text(&told)).unwrap();
    let found = ["A", "PEM", "B", "C"].map(|name| variables[name].as_str().unwrap());
    assert_eq!(found, ["1", key, "x\ny", "2"]);
    std::fs::write(&own, "A=1\nB=2\nPEM=\"secret\nC=3\n").unwrap();
    let refused = switchboard.run(&["call", "it", "environment"]).expect(4);
    insta::assert_snapshot!(transcript(&refused), @"
    exit status 4
    --- stderr
    warning: server `it` is not ready: `it`: `[home]/own/vars` cannot be read at line 3: the quote is never closed ([home]/own/config.json:1, key `envFile`)
    hint: every line is `NAME=value`, a comment after `#`, or empty
    error: server `it` is unusable: `it`: `[home]/own/vars` cannot be read at line 3: the quote is never closed ([home]/own/config.json:1, key `envFile`)
    hint: every line is `NAME=value`, a comment after `#`, or empty
    ");
    assert!(!refused.stderr.contains("secret"), "{refused:?}");
}
