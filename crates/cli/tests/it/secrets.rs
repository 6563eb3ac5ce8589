//! Tests of secrets by reference: available to one server only, sealed, and absent from all files
//! and output.

use serde_json::json;

use crate::switchboard::{Switchboard, fixture};
use crate::told_server;
use crate::transcript::transcript;

const SECRET: &str = "hunter2-hunter2-hunter2";

fn home_with_key() -> Switchboard {
    let mut switchboard = Switchboard::new();
    switchboard.set("SWITCHBOARD_TOKEN_KEY", "a key of this test");
    switchboard
}

/// Returns a server that writes its environment and its command line to files.
fn observer(switchboard: &Switchboard, name: &str) -> String {
    let program = switchboard_testkit::binary();
    let file = switchboard.text_path(name);
    let text = format!(
        "#!/bin/sh\nenv > '{file}.env'\ncat /proc/*/cmdline > '{file}.ps' 2>/dev/null\n\
         echo \"started with $TOKEN\" >&2\nexec '{}' echo\n",
        program.display()
    );
    let path = switchboard.write(&format!("{name}.sh"), &text);
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&path, mode).unwrap();
    path.to_str().unwrap().to_owned()
}

fn read(switchboard: &Switchboard, name: &str) -> String {
    String::from_utf8_lossy(&std::fs::read(switchboard.path(name)).unwrap()).into_owned()
}

/// Returns every file below a folder that contains the text.
fn holders(folder: &std::path::Path, text: &str) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(holders(&path, text));
        } else if memchr(&std::fs::read(&path).unwrap_or_default(), text.as_bytes()) {
            found.push(path);
        }
    }
    found
}

fn memchr(bytes: &[u8], text: &[u8]) -> bool {
    bytes.windows(text.len()).any(|window| window == text)
}

#[test]
fn en_02_a_secret_is_given_to_its_own_server_and_to_no_other() {
    let switchboard = home_with_key();
    let entry = |name: &str| {
        let program = observer(&switchboard, name);
        json!({"command": program, "env": {"TOKEN": "${keyring:A_TOKEN}"}})
    };
    let other =
        json!({"command": observer(&switchboard, "c"), "env": {"TOKEN": "${secret:A_TOKEN}"}});
    switchboard.configure(&json!({"a": entry("a"), "b": entry("b"), "c": other}));
    let set = ["secrets", "set", "A_TOKEN", "--server", "a"];
    switchboard.run_with_input(&set, &format!("{SECRET}\n")).expect(0);
    switchboard.run(&["call", "a", "echo", "text=x"]).expect(0);
    assert!(read(&switchboard, "a.env").contains(&format!("TOKEN={SECRET}")));
    assert!(!read(&switchboard, "a.ps").contains(SECRET), "a command line holds the secret");
    let mut seen = Vec::new();
    for name in ["b", "c"] {
        let refused = switchboard.run(&["call", name, "echo", "text=x"]).expect(4);
        seen.push(transcript(&refused));
        assert!(!switchboard.path(&format!("{name}.env")).exists(), "it was started");
    }
    insta::assert_snapshot!(seen.join("\n\n"), @"
    exit status 4
    --- stderr
    warning: server `b` is not ready: the secret `A_TOKEN` is not set for server `b`
    hint: set it with `switchboard secrets set A_TOKEN --server b`
    error: server `b` is waiting to retry: the secret `A_TOKEN` is not set for server `b`
    hint: set it with `switchboard secrets set A_TOKEN --server b`

    exit status 4
    --- stderr
    warning: server `c` is not ready: the secret `A_TOKEN` is not set for server `c`
    hint: set it with `switchboard secrets set A_TOKEN --server c`
    error: server `c` is waiting to retry: the secret `A_TOKEN` is not set for server `c`
    hint: set it with `switchboard secrets set A_TOKEN --server c`
    ");
    let listed = switchboard.json(&["secrets"]);
    assert_eq!(listed, json!([{"server": "a", "name": "A_TOKEN"}]));
    // A project server of the same name does not get the secret.
    let project = json!({"mcpServers": {"a": entry("d")}});
    switchboard.write("switchboard.json", &project.to_string());
    switchboard.run(&["servers", "approve", "a"]).expect(0);
    switchboard.run(&["call", "a", "echo", "text=x"]).expect(4);
    assert!(!switchboard.path("d.env").exists());
    std::fs::remove_file(switchboard.path("switchboard.json")).unwrap();

    switchboard.run(&["secrets", "remove", "A_TOKEN", "--server", "a"]).expect(0);
    switchboard.run(&["call", "a", "echo", "text=x"]).expect(4);
}

#[test]
fn en_05_a_reference_to_a_secret_cannot_stand_among_the_arguments() {
    let switchboard = home_with_key();
    let mut entry = fixture(&["echo"]);
    entry["args"] = json!(["echo", "--token", "${keyring:TOKEN}"]);
    switchboard.configure(&json!({"it": entry}));
    let shown = switchboard.run(&["servers", "show", "it"]).expect(3);
    insta::assert_snapshot!(transcript(&shown), @"
    exit status 3
    --- stderr
    error: `it`: `args[2]` refers to a secret, which is not allowed here ([home]/own/config.json:1)
    hint: put it into `env` or `headers`
    ");
}

#[test]
fn lg_02_a_secret_is_taken_out_of_the_record_however_json_writes_it() {
    let secret = "Cap+Ital/Letters and \"ü\"==";
    let switchboard = home_with_key();
    let mut entry = fixture(&["echo"]);
    entry["env"] = json!({"TOKEN": "${keyring:A_TOKEN}"});
    switchboard.configure(&json!({"a": entry}));
    let set = ["secrets", "set", "A_TOKEN", "--server", "a"];
    switchboard.run_with_input(&set, &format!("{secret}\n")).expect(0);
    for written in [
        r#"Cap+Ital/Letters and \"ü\"=="#,
        r#"Cap+Ital\/Letters and \"\u00fc\"=="#,
        r#"Cap+Ital/Letters and \"\u00FC\"=="#,
        r#"Cap+Ital/Letters and \"\u00fc\"\u003d\u003d"#,
    ] {
        let arguments = format!(r#"{{"text":"before {written} after"}}"#);
        switchboard.run(&["call", "a", "echo", "--json-args", &arguments]).expect(0);
        let id = switchboard.json(&["calls", "--limit", "1"])[0]["id"].clone();
        let shown = switchboard.run(&["calls", "show", id.as_str().unwrap()]).expect(0).stdout;
        assert!(shown.contains("before [redacted] after"), "{written}: {shown}");
        assert!(!shown.contains("Ital"), "{written}: {shown}");
    }
}

#[test]
fn lg_02_secrets_are_in_no_log_no_message_and_no_list() {
    let switchboard = home_with_key();
    let program = observer(&switchboard, "a");
    let url = told_server::start(|method, _| {
        let token = format!("ghp_{}", "a1B2c3D4".repeat(5));
        Err(format!("{method} failed: Authorization: Bearer {token} and AKIAIOSFODNN7EXAMPLE"))
    });
    switchboard.configure(&json!({
        "a": {"command": program, "env": {"TOKEN": "${keyring:TOKEN}"}},
        "plain": {"command": program, "env": {"API_TOKEN": SECRET, "TOKEN": SECRET}},
        "ends": {"command": program, "env": {"TOKEN": SECRET, "PATH": ""}},
        "told": {"url": url, "headers": {"Authorization": format!("Bearer {SECRET}")}},
    }));
    let set = ["secrets", "set", "TOKEN", "--server", "a"];
    switchboard.run_with_input(&set, SECRET).expect(0);
    let token = "ghp_a1B2c3D4";
    let all: [&[&str]; 12] = [
        &["servers"],
        &["servers", "--json"],
        &["servers", "show", "plain"],
        &["servers", "show", "told", "--json"],
        &["doctor"],
        &["doctor", "--json"],
        &["secrets", "--json"],
        &["call", "a", "echo", "text=x"],
        &["call", "told", "say"],
        &["call", "told", "say", "--json"],
        &["servers", "logs", "a"],
        &["servers", "logs", "plain"],
    ];
    for words in all {
        let ran = switchboard.run(words);
        for secret in [SECRET, token, "AKIAIOSFODNN7EXAMPLE"] {
            let held = ran.stdout.contains(secret) || ran.stderr.contains(secret);
            assert!(!held, "{words:?} tells `{secret}`: {ran:?}");
        }
    }
    let logs = switchboard.run(&["servers", "logs", "a"]).expect(0).stdout;
    assert!(logs.contains("started with [redacted]"), "{logs}");
    let logs = switchboard.folder().join("own/state/logs");
    assert_eq!(holders(&logs, SECRET), [""; 0].map(std::path::PathBuf::from));
    let state = switchboard.folder().join("own/state/secrets");
    assert_eq!(holders(&state, SECRET), [""; 0].map(std::path::PathBuf::from));
}
