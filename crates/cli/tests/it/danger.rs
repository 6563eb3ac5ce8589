//! Entries that run program text, load other code or fetch anything: nothing runs unasked.

use serde_json::{Value, json};

use crate::running::started_pids;
use crate::switchboard::{Switchboard, fixture};
use crate::transcript::{redacted, transcript};

/// Returns a script that runs these lines and then becomes a server.
fn script(switchboard: &Switchboard, name: &str, more: &str) -> String {
    let program = switchboard_testkit::binary();
    let text = format!("#!/bin/sh\n{more}\nexec '{}' echo\n", program.display());
    let path = switchboard.write(name, &text);
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&path, mode).unwrap();
    path.to_str().unwrap().to_owned()
}

fn server<'a>(servers: &'a Value, name: &str) -> &'a Value {
    servers.as_array().unwrap().iter().find(|server| server["name"] == name).unwrap()
}

#[test]
fn ex_01_words_for_a_shell_are_words_like_any_other() {
    let switchboard = Switchboard::new();
    let canary = switchboard.text_path("canary");
    let seen = switchboard.text_path("seen");
    let program = script(&switchboard, "server.sh", &format!("printf '%s\\n' \"$@\" > '{seen}'"));
    let words = [
        format!("; touch {canary}"),
        format!("$(touch {canary})"),
        format!("`touch {canary}`"),
        format!("&& touch {canary}"),
        format!("| touch {canary}"),
        format!("> {canary}"),
    ];
    switchboard.configure(&json!({"it": {"command": program, "args": words}}));
    switchboard.run(&["call", "it", "echo", "text=a"]).expect(0);
    assert!(!switchboard.path("canary").exists());
    let got = std::fs::read_to_string(seen).unwrap();
    assert_eq!(got.lines().collect::<Vec<_>>(), words);
}

#[test]
fn ex_02_program_text_in_an_entry_runs_only_after_a_person_agreed_to_exactly_that() {
    let switchboard = Switchboard::new();
    let canary = switchboard.text_path("canary");
    let touch = format!("touch '{canary}'");
    let entries = json!({
        "npx": {"command": "npx", "args": ["-c", touch]},
        "python": {"command": "python3", "args": ["-c", format!("open('{canary}', 'w')")]},
        "node": {"command": "node", "args": ["-e", "require('fs').writeFileSync('canary', '')"]},
        "bash": {"command": "bash", "args": ["-lc", touch]},
        "env": {"command": "env", "args": ["sh"]},
        "docker": {"command": "docker", "args": ["run", "-v", "/:/h", "alpine:3.20", "sh"]},
    });
    switchboard.configure(&entries);
    let listed = switchboard.json(&["servers"]);
    let mut seen = Vec::new();
    for name in entries.as_object().unwrap().keys() {
        let server = server(&listed, name);
        assert_eq!(server["status"], "needs approval", "{server}");
        assert_eq!(server["findings"][0]["weight"], "danger", "{server}");
        let call = switchboard.run(&["call", name, "echo", "text=a"]).expect(5);
        assert!(call.stderr.contains("has not been approved"), "{call:?}");
        let asked = switchboard.run(&["servers", "approve", name]).expect(5);
        seen.push(transcript(&asked));
    }
    insta::assert_snapshot!(seen.join("\n\n"), @r"
    exit status 5
    --- stderr
    `bash` runs: bash -lc 'touch '\''[work]/canary'\'''
    not started yet: its first definitions will count as approved
      danger: `bash` runs program text out of -lc, not a program (eval)
    error: `bash` is dangerous: approval needed, but there is no terminal to ask on
    hint: review what it runs, then pass `--yes`

    exit status 5
    --- stderr
    `docker` runs: docker run -v /:/h alpine:3.20 sh
    not started yet: its first definitions will count as approved
      danger: mounts `/` of the host into the container (container)
    error: `docker` is dangerous: approval needed, but there is no terminal to ask on
    hint: review what it runs, then pass `--yes`

    exit status 5
    --- stderr
    `env` runs: env sh
    not started yet: its first definitions will count as approved
      danger: `sh` runs program text out of standard input, not a program (eval)
    error: `env` is dangerous: approval needed, but there is no terminal to ask on
    hint: review what it runs, then pass `--yes`

    exit status 5
    --- stderr
    `node` runs: node -e 'require('\''fs'\'').writeFileSync('\''canary'\'', '\'''\'')'
    not started yet: its first definitions will count as approved
      danger: `node` runs program text out of -e, not a program (eval)
    error: `node` is dangerous: approval needed, but there is no terminal to ask on
    hint: review what it runs, then pass `--yes`

    exit status 5
    --- stderr
    `npx` runs: npx -c 'touch '\''[work]/canary'\'''
    not started yet: its first definitions will count as approved
      danger: `npx` runs program text out of -c, not a program (eval)
    error: `npx` is dangerous: approval needed, but there is no terminal to ask on
    hint: review what it runs, then pass `--yes`

    exit status 5
    --- stderr
    `python` runs: python3 -c 'open('\''[work]/canary'\'', '\''w'\'')'
    not started yet: its first definitions will count as approved
      danger: `python` runs program text out of -c, not a program (eval)
    error: `python` is dangerous: approval needed, but there is no terminal to ask on
    hint: review what it runs, then pass `--yes`
    ");
    assert!(!switchboard.path("canary").exists(), "program text ran without approval");

    switchboard.run(&["servers", "approve", "bash", "--yes"]).expect(0);
    switchboard.run(&["call", "bash", "echo", "text=a"]);
    assert!(switchboard.path("canary").exists(), "an approved entry does not run");

    let other = json!({"bash": {"command": "bash", "args": ["-lc", format!("{touch}2")]}});
    switchboard.configure(&other);
    assert_eq!(switchboard.status("bash")[0], "needs approval");
    assert!(!switchboard.path("canary2").exists());
}

#[test]
fn ex_02_adding_a_dangerous_server_asks_first_and_keeps_the_answer() {
    let switchboard = Switchboard::new();
    let add = ["servers", "add", "it", "--", "sh", "-c", "true"];
    let refused = switchboard.run(&add).expect(5);
    insta::assert_snapshot!(transcript(&refused), @"
    exit status 5
    --- stderr
    `it` runs: sh -c true
      danger: `sh` runs program text out of -c, not a program (eval)
    error: `it` is dangerous: approval needed, but there is no terminal to ask on
    hint: review what it runs, then pass `--yes`
    ");
    assert_eq!(switchboard.config_text(), "");
    switchboard.run(&[&["servers", "add", "--yes"], &add[2..]].concat()).expect(0);
    let config: Value = serde_json::from_str(&switchboard.config_text()).unwrap();
    assert_eq!(config["mcpServers"]["it"]["dangerous"], json!(["eval"]));
    let shown = switchboard.json(&["servers", "show", "it"]);
    assert_eq!((&shown["approved"], &shown["findings"][0]["word"]), (&json!(true), &json!("eval")));
}

#[test]
fn ex_02_a_projects_own_agreement_to_danger_counts_for_nothing() {
    let switchboard = Switchboard::new();
    let touch = format!("touch '{}'", switchboard.text_path("canary"));
    let entry = json!({"command": "sh", "args": ["-c", touch], "dangerous": ["eval"]});
    switchboard.write("switchboard.json", &json!({"mcpServers": {"it": entry}}).to_string());
    switchboard.run(&["tools"]).expect(0);
    switchboard.run(&["servers", "approve", "it"]).expect(5);
    assert_eq!(switchboard.status("it")[0], "needs approval");
    assert!(!switchboard.path("canary").exists());
    switchboard.run(&["servers", "approve", "it", "--yes"]).expect(0);
    switchboard.run(&["tools"]).expect(0);
    assert!(switchboard.path("canary").exists());
}

#[test]
fn ex_03_a_command_is_an_absolute_path_or_a_name_that_is_looked_up_outside_the_project() {
    let mut switchboard = Switchboard::new();
    script(&switchboard, "mine.sh", "");
    let canary = switchboard.text_path("canary");
    script(&switchboard, "planted", &format!("touch '{canary}'"));
    let path = std::env::var("PATH").unwrap();
    for lookup in [format!(":{path}"), format!(".:{path}"), format!("{path}:")] {
        switchboard.set("PATH", &lookup);
        switchboard.configure(&json!({
            "relative": {"command": "./mine.sh"},
            "empty": {"command": ""},
            "blank": {"command": "  "},
            "nul": {"command": "sh\u{0}"},
            "line": {"command": "mine.sh\nsh"},
            "planted": {"command": "planted"},
        }));
        let shown = switchboard.json(&["servers", "show", "relative"]);
        let absolute = switchboard.path("./mine.sh");
        assert_eq!(shown["entry"][0], format!("command  {}", absolute.display()));
        switchboard.run(&["call", "relative", "echo", "text=a"]).expect(0);
        for name in ["empty", "blank", "nul", "line"] {
            assert_eq!(switchboard.status(name)[0], "failed", "{name}");
        }
        let doctor = switchboard.run(&["doctor", "planted"]).expect(4);
        assert!(doctor.stdout.contains("was not found on PATH"), "{doctor:?}");
        assert!(!switchboard.path("canary").exists());
    }
}

#[test]
fn ex_07_variables_that_load_code_are_agreed_to_by_name() {
    let switchboard = Switchboard::new();
    let trace = switchboard.text_path("trace");
    let names = ["LD_PRELOAD", "NODE_OPTIONS", "PYTHONSTARTUP", "BASH_ENV", "GIT_SSH_COMMAND"];
    for name in names {
        let mut entry = fixture(&["echo", "--trace", &trace]);
        entry["env"] = json!({name: ""});
        switchboard.configure(&json!({"it": entry}));
        let refused = switchboard.run(&["call", "it", "echo", "text=a"]).expect(5);
        assert!(refused.stderr.contains("`switchboard servers approve it`"), "{refused:?}");
        let shown = switchboard.run(&["servers", "show", "it"]).expect(0);
        let word = format!("(env:{name})");
        assert!(shown.stdout.contains("danger: ") && shown.stdout.contains(&word), "{shown:?}");

        entry["dangerous"] = json!(["env:OTHER", "eval"]);
        switchboard.configure(&json!({"it": entry}));
        switchboard.run(&["call", "it", "echo", "text=a"]).expect(5);
        assert_eq!(started_pids(&switchboard.path("trace")).len(), 0, "{name}");

        entry["dangerous"] = json!([format!("env:{name}")]);
        switchboard.configure(&json!({"it": entry}));
        switchboard.run(&["call", "it", "echo", "text=a"]).expect(0);
        std::fs::remove_file(&trace).unwrap();
    }
}

#[test]
fn sc_01_a_package_without_a_version_is_noted_and_under_strict_refused() {
    let switchboard = Switchboard::new();
    let entries = json!({
        "npx": {"command": "npx", "args": ["-y", "some-package"], "disabled": true},
        "uvx": {"command": "uvx", "args": ["some-package@latest"], "disabled": true},
        "docker": {"command": "docker", "args": ["run", "-i", "a/b:latest"], "disabled": true},
        "fixed": {"command": "npx", "args": ["-y", "some-package@1.2.3"], "disabled": true},
    });
    let mut entries = entries;
    for (name, line) in [
        ("npx-range", "npx -y some-package@1.2"),
        ("npx-wrapped", "timeout 30 npx some-package"),
        ("npx-module", "python3 -m pipx run some-package"),
        ("docker-major", "docker run -i a/b:1"),
        ("corepack", "corepack pnpm dlx some-package"),
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let entry = json!({"command": words[0], "args": words[1..], "disabled": true});
        let looked = Switchboard::with(&json!({ name: entry }));
        let shown = looked.json(&["servers", "show", name]);
        assert_eq!(shown["findings"][0]["word"], "unpinned", "{shown}");
    }
    // An alias does not pin a version.
    entries["alias"] = json!({"command": "npx", "args": ["good@npm:bad@1.0.0"], "disabled": true});
    switchboard.configure(&entries);
    for name in ["npx", "uvx", "docker"] {
        let shown = switchboard.json(&["servers", "show", name]);
        assert_eq!(shown["findings"][0]["word"], "unpinned", "{shown}");
        assert_eq!(switchboard.status(name)[0], "disabled");
    }
    let text = switchboard.run(&["doctor"]).expect(0).stdout;
    assert_eq!(text.matches("note: runs an unpinned version").count(), 3, "{text}");

    let strict = json!({"mcpServers": entries, "settings": {"strict": true}});
    switchboard.write_config(&strict.to_string());
    for name in ["npx", "uvx", "docker"] {
        assert_eq!(switchboard.status(name)[0], "failed", "{name}");
    }
    assert_eq!(switchboard.status("fixed")[0], "disabled");
    switchboard.write("switchboard.json", r#"{"settings": {"strict": false}}"#);
    assert_eq!(switchboard.status("npx")[0], "failed", "a project switched strict off");
}

#[test]
fn sc_01_packages_from_another_place_are_noted_and_under_strict_refused() {
    let switchboard = Switchboard::new();
    let lines = [
        ("npx", "npx --registry https://u:hunter2@packages.invalid -y pkg@1.2.3", "source"),
        ("uvx", "uvx --index-url https://packages.invalid pkg==1.2.3", "source"),
        ("pipx", "pipx run --index-url=https://packages.invalid pkg==1.2.3", "source"),
        ("bun", "bun x --registry=https://packages.invalid pkg@1.2.3", "source"),
        ("bunx", "bunx pkg", "unpinned"),
        ("list", "uvx --with-requirements more.txt pkg==1.2.3", "unpinned"),
    ];
    let entry = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        json!({"command": words[0], "args": words[1..], "disabled": true})
    };
    let entries: Value =
        lines.iter().map(|(name, line, _)| ((*name).to_owned(), entry(line))).collect();
    switchboard.configure(&entries);
    for (name, _, word) in lines {
        let shown = switchboard.json(&["servers", "show", name]);
        let found = shown["findings"].as_array().unwrap().iter().find(|one| one["word"] == word);
        assert!(!found.unwrap()["message"].to_string().contains("hunter2"), "{shown}");
        assert_eq!(switchboard.status(name)[0], "disabled");
    }
    let strict = json!({"mcpServers": entries, "settings": {"strict": true}});
    switchboard.write_config(&strict.to_string());
    for (name, ..) in lines {
        assert_eq!(switchboard.status(name)[0], "failed", "{name}");
    }
    // The same through a variable needs approval by name.
    let mut entry = entry("npx -y pkg@1.2.3");
    entry["env"] = json!({"npm_config_registry": "https://packages.invalid"});
    switchboard.configure(&json!({"it": entry}));
    let shown = switchboard.json(&["servers", "show", "it"]);
    assert_eq!(shown["findings"][0]["word"], "env:npm_config_registry", "{shown}");
    assert_eq!(shown["findings"][0]["weight"], "danger", "{shown}");
}

#[test]
fn sc_03_a_package_that_the_records_know_to_be_bad_is_refused() {
    let switchboard = Switchboard::new();
    let record = json!({
        "id": "MAL-2025-1",
        "affected": [
            {"package": {"ecosystem": "npm", "name": "postmark-mcp"}, "versions": ["1.0.16"]},
            {"package": {"ecosystem": "npm", "name": "@evil/all"}},
        ],
    });
    switchboard.write("records/MAL-2025-1.json", &record.to_string());
    let npx = |package: &str| json!({"command": "npx", "args": ["-y", package], "disabled": true});
    let config = json!({
        "mcpServers": {
            "exact": npx("postmark-mcp@1.0.16"),
            "any": npx("postmark-mcp"),
            "all": npx("@evil/all@3.0.0"),
            "older": npx("postmark-mcp@1.0.12"),
            "python": {"command": "uvx", "args": ["postmark-mcp==1.0.16"], "disabled": true},
        },
        "settings": {"badPackages": switchboard.path("records")},
    });
    switchboard.write_config(&config.to_string());
    for (name, status) in
        [("exact", "failed"), ("any", "failed"), ("all", "failed"), ("older", "disabled")]
    {
        assert_eq!(switchboard.status(name)[0], status, "{name}");
    }
    let doctor = switchboard.run(&["doctor"]).expect(4).stdout;
    insta::assert_snapshot!(redacted(&doctor), @"
    file    [home]/own/config.json (read)
    file    [work]/switchboard.json (missing)
    file    [home]/system/policy.json (missing)
    file    [work]/.switchboard/policy.json (missing)
    file    [home]/own/policy.json (missing)
    record  [home]/own/state (ok)

    ✗ all: failed
        `all`: the package `@evil/all` is known to be bad (MAL-2025-1) ([home]/own/config.json)
        hint: choose another package; `settings.badPackages` lists the bad ones

    ✗ any: failed
        `any`: the package `postmark-mcp` is known to be bad (MAL-2025-1) ([home]/own/config.json)
        hint: choose another package; `settings.badPackages` lists the bad ones

    ✓ builtin: ready
        built in
        speaks 2026-07-28, offers 6 tools, 2 resources, 1 prompt

    ✗ exact: failed
        `exact`: the package `postmark-mcp` is known to be bad (MAL-2025-1) ([home]/own/config.json)
        hint: choose another package; `settings.badPackages` lists the bad ones

    ✓ older: disabled
        npx -y postmark-mcp@1.0.12

    ✓ python: disabled
        uvx postmark-mcp==1.0.16
        note: `postmark-mcp` cannot be checked: no records of PyPI (unknown)

    6 servers, 3 unhealthy, checked in [duration]
    ");
    // There are no records of that kind: unknown is not the same as clean.
    let shown = switchboard.json(&["servers", "show", "python"]);
    assert_eq!(shown["findings"][0]["word"], "unknown", "{shown}");
    // Unreadable records block the server instead of being ignored.
    switchboard.write("records/broken.json", "{");
    assert_eq!(switchboard.status("older")[0], "failed");
    switchboard.write("switchboard.json", r#"{"settings": {"badPackages": "/nowhere"}}"#);
    std::fs::remove_file(switchboard.path("records/broken.json")).unwrap();
    assert_eq!(switchboard.status("exact")[0], "failed", "a project moved the records");
}
