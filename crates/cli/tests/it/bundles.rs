//! A bundle is inspected, installed by its digest, called, and rechecked by `doctor`.

use std::io::{Cursor, Write as _};

use serde_json::{Value, json};
use switchboard_testkit::RegistryFixture;
use zip::write::{SimpleFileOptions, ZipWriter};

use crate::switchboard::Switchboard;
use crate::transcript::transcript;

const SECRET: &str = "hunter2-hunter2-hunter2";

/// Returns a bundle whose server is a script that execs the fixture `echo`.
fn bundle(more: &[(&str, &[u8])]) -> Vec<u8> {
    let manifest = json!({
        "manifest_version": "0.3", "name": "my-echo", "version": "1.0.0", "description": "says it again",
        "author": {"name": "me"},
        "server": {"type": "binary", "entry_point": "server/run", "mcp_config": {
            "command": "${__dirname}/server/run", "args": ["echo"], "env": {"KEY": "${user_config.key}"}}},
        "user_config": {"key": {"type": "string", "title": "Key", "sensitive": true, "required": true}},
    });
    let script = format!(
        "#!/bin/sh\n[ -n \"$KEY\" ] || exit 3\nexec '{}' \"$@\"\n",
        switchboard_testkit::binary().display()
    );
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let plain = SimpleFileOptions::default();
    writer.start_file("manifest.json", plain).unwrap();
    writer.write_all(manifest.to_string().as_bytes()).unwrap();
    writer.start_file("server/run", plain.unix_permissions(0o755)).unwrap();
    writer.write_all(script.as_bytes()).unwrap();
    for (name, contents) in more {
        writer.start_file(*name, plain).unwrap();
        writer.write_all(contents).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn home() -> Switchboard {
    let mut switchboard = Switchboard::new();
    switchboard.set("SWITCHBOARD_TOKEN_KEY", "a key of this test");
    switchboard.write("key.txt", SECRET);
    switchboard
}

fn shown(switchboard: &Switchboard, file: &str) -> Value {
    switchboard.json(&["bundle", "show", file])
}

#[test]
fn bundle_is_shown_installed_by_its_digest_called_and_checked_again() {
    let switchboard = home();
    std::fs::write(switchboard.path("echo.mcpb"), bundle(&[])).unwrap();
    let about = shown(&switchboard, "echo.mcpb");
    let digest = about["sha256"].as_str().unwrap().to_owned();
    assert_eq!((&about["files"], about["asks"][0]["name"].as_str()), (&json!(2), Some("key")));
    let wrong = "0".repeat(64);
    let other = switchboard.run(&["bundle", "show", "echo.mcpb", "--digest", &wrong]).expect(5);
    insta::assert_snapshot!(transcript(&other), @"
    exit status 5
    --- stderr
    error: SHA-256 mismatch: the bundle has [digest], expected [digest]
    ");
    let add = ["add", "echo.mcpb", "--set", "key=@key.txt", "--digest", &digest];
    switchboard.run(&[&add[..], &["--dry-run"]].concat()).expect(0);
    let bundles = switchboard.folder().join("own/state/bundles");
    assert!(!bundles.exists(), "something was unpacked");
    switchboard.run(&[&add[..], &["--yes"]].concat()).expect(0);
    let said = switchboard.run(&["call", "my-echo", "echo", "text=out of a bundle"]).expect(0);
    assert_eq!(said.stdout, "out of a bundle\n");
    assert!(!switchboard.config_text().contains(SECRET));
    switchboard.run(&["doctor", "my-echo"]).expect(0);
    let script = bundles.join(&digest).join("contents/server/run");
    let text = std::fs::read_to_string(&script).unwrap();
    std::fs::write(&script, format!("{text}# changed\n")).unwrap();
    let ill = switchboard.run(&["doctor", "my-echo"]).expect(4);
    insta::assert_snapshot!(transcript(&ill), @"
    exit status 4
    --- stdout
    file    [home]/own/config.json (read)
    file    [work]/switchboard.json (missing)
    file    [home]/system/policy.json (missing)
    file    [work]/.switchboard/policy.json (missing)
    file    [home]/own/policy.json (missing)
    record  [home]/own/state (ok)

    ✓ my-echo: ready
        [home]/own/state/bundles/[digest]/contents/server/run echo
        speaks 2026-07-28, offers 11 tools, 3 resources, 1 prompt
        danger: in its bundle, `server/run` was changed

    1 server, 1 unhealthy, checked in [duration]
    ");
}

#[test]
fn bundle_of_a_registry_must_have_the_digest_that_the_registry_says() {
    let switchboard = home();
    let bytes = bundle(&[]);
    std::fs::write(switchboard.path("echo.mcpb"), &bytes).unwrap();
    let digest = shown(&switchboard, "echo.mcpb")["sha256"].as_str().unwrap().to_owned();
    let registry = RegistryFixture::start(&[]);
    let url = registry.add_file("/files/echo.mcpb", bytes);
    let named = |name: &str, digest: Option<&str>| {
        json!({"name": name, "version": "1.0.0", "packages": [{
            "registryType": "mcpb", "identifier": url, "fileSha256": digest}]})
    };
    let wrong = "0".repeat(64);
    registry.set_servers(&[
        named("a.example/echo", Some(&digest)),
        named("a.example/other", Some(&wrong)),
        named("a.example/none", None),
    ]);
    let add = |name: &str, code: i32| {
        let words = ["add", name, "--registry", &registry.url, "--yes", "--set", "key=@key.txt"];
        switchboard.run(&words).expect(code)
    };
    let other = add("a.example/other", 5);
    insta::assert_snapshot!(transcript(&other), @"
    exit status 5
    --- stderr
    fetching http://127.0.0.1:[port]/files/echo.mcpb
    error: SHA-256 mismatch: the bundle has [digest], expected [digest]
    ");
    let none = add("a.example/none", 5);
    insta::assert_snapshot!(transcript(&none), @"
    exit status 5
    --- stderr
    error: the bundle `http://127.0.0.1:[port]/files/echo.mcpb` has no SHA-256 digest to verify it
    ");
    add("a.example/echo", 0);
    let said = switchboard.run(&["call", "echo", "echo", "text=fetched"]).expect(0);
    assert_eq!(said.stdout, "fetched\n");
}

#[test]
fn bundle_that_leads_out_of_its_folder_is_refused() {
    let switchboard = home();
    let mut seen = Vec::new();
    for (index, name) in ["../evil", "/etc/evil", "server/../../evil"].into_iter().enumerate() {
        let file = format!("bad{index}.mcpb");
        std::fs::write(switchboard.path(&file), bundle(&[(name, b"x")])).unwrap();
        for words in [&["bundle", "show", &file][..], &["add", &file, "--yes", "--set", "key=k"]] {
            let refused = switchboard.run(words).expect(5);
            seen.push(transcript(&refused));
        }
    }
    insta::assert_snapshot!(seen.join("\n\n"), @"
    exit status 5
    --- stderr
    error: bundle entry `../evil` leads out of its folder

    exit status 5
    --- stderr
    error: bundle entry `../evil` leads out of its folder

    exit status 5
    --- stderr
    error: bundle entry `/etc/evil` is not a plain relative path

    exit status 5
    --- stderr
    error: bundle entry `/etc/evil` is not a plain relative path

    exit status 5
    --- stderr
    error: bundle entry `server/../../evil` leads out of its folder

    exit status 5
    --- stderr
    error: bundle entry `server/../../evil` leads out of its folder
    ");
    let missing = switchboard.run(&["bundle", "show", "nowhere.mcpb"]).expect(2);
    insta::assert_snapshot!(transcript(&missing), @"
    exit status 2
    --- stderr
    error: cannot read the bundle: No such file or directory (os error [number])
    ");
    assert!(!switchboard.folder().join("own/state/bundles").exists());
}
