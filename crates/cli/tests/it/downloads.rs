//! Files from a server are written inside the roots, under a plain name, once and complete.

use std::os::unix::fs::{PermissionsExt as _, symlink};

use serde_json::{Value, json};

use crate::switchboard::{Switchboard, fixture};
use crate::told_server;

const TEXT: &str = "test://static-text";

fn echo() -> Switchboard {
    Switchboard::with(&json!({"echo": fixture(&["echo"])}))
}

/// Reads the text resource into a file; returns the exit code and standard error.
fn read_into(switchboard: &Switchboard, file: &str) -> (i32, String) {
    let ran = switchboard.run(&["resources", "read", "echo", TEXT, "--output", file]);
    (ran.code, ran.stderr)
}

fn check_refused(switchboard: &Switchboard, files: &[&str]) {
    for file in files {
        let (code, said) = read_into(switchboard, file);
        assert_eq!(code, 5, "{file}: {said}");
    }
}

fn remaining_files(folder: &std::path::Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn fs_01_nothing_is_written_outside_the_roots() {
    let switchboard = echo();
    std::fs::create_dir(switchboard.folder().join(".ssh")).unwrap();
    let absolute = switchboard.folder().join("outside");
    let files = ["../../.ssh/authorized_keys", "../.ssh/authorized_keys", "a/../../outside"];
    check_refused(&switchboard, &files);
    check_refused(&switchboard, &[absolute.to_str().unwrap(), "/tmp/switchboard-outside"]);
    assert_eq!(remaining_files(&switchboard.folder().join(".ssh")), [""; 0]);
    assert!(!absolute.exists());
    // The same place is accepted once it is in a root.
    let root = switchboard.folder().to_str().unwrap().to_owned();
    let words = ["resources", "read", "echo", TEXT, "--root", &root, "--output"];
    switchboard.run(&[&words[..], &[absolute.to_str().unwrap()]].concat()).expect(0);
    assert!(absolute.exists());
}

#[test]
fn fs_02_names_that_programs_run_or_trust_are_protected_inside_the_roots_too() {
    let mut switchboard = echo();
    for folder in [".git/hooks", ".cursor", ".vscode"] {
        std::fs::create_dir_all(switchboard.path(folder)).unwrap();
    }
    let files = [
        ".mcp.json",
        ".git/hooks/pre-commit",
        ".cursor/mcp.json",
        ".vscode/tasks.json",
        ".bashrc",
        ".MCP.JSON",
        "mcp.json",
        "switchboard.json",
        ".env",
        "AGENTS.md",
        "opencode.json",
        "Makefile",
        "-",
        "./-rf",
        "ｍcp.json",
        "hookſ.json",
        "switchbо\u{430}rd.json",
        "sub.ｐth",
    ];
    check_refused(&switchboard, &files);
    // The host's own folder is refused even if it is inside a root.
    let root = switchboard.folder().to_str().unwrap().to_owned();
    switchboard.set("SWITCHBOARD_HOME", &format!("{root}/own"));
    let own = format!("{root}/own/policy.json");
    let words = ["resources", "read", "echo", TEXT, "--root", &root, "--output", &own];
    switchboard.run(&words).expect(5);
    assert!(!std::path::Path::new(&own).exists());
    assert_eq!(remaining_files(&switchboard.path(".git/hooks")), [""; 0]);
}

#[test]
fn fs_03_links_inside_the_roots_are_not_followed() {
    let switchboard = echo();
    let outside = switchboard.folder().join("outside");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("there"), "before").unwrap();
    symlink(&outside, switchboard.path("folder")).unwrap();
    symlink(outside.join("there"), switchboard.path("file")).unwrap();
    symlink(outside.join("new"), switchboard.path("dangling")).unwrap();
    check_refused(&switchboard, &["folder/x", "file", "dangling"]);
    let force = ["resources", "read", "echo", TEXT, "--force", "--output", "file"];
    switchboard.run(&force).expect(5);
    assert_eq!(remaining_files(&outside), ["there"]);
    assert_eq!(std::fs::read_to_string(outside.join("there")).unwrap(), "before");
}

#[test]
fn fs_04_a_folder_whose_name_begins_like_the_root_is_outside() {
    let switchboard = echo();
    let evil = switchboard.folder().join("work_evil");
    std::fs::create_dir(&evil).unwrap();
    check_refused(&switchboard, &[evil.join("x").to_str().unwrap(), "../work_evil/x"]);
    assert_eq!(remaining_files(&evil), [""; 0]);
}

#[test]
fn fs_05_a_name_of_the_servers_is_never_a_path() {
    let url = told_server::start(|_, params| Ok(content(params, "text", "given")));
    let switchboard = Switchboard::with(&json!({"told": {"url": url}}));
    let long = format!("told://{}", "x".repeat(4_000));
    for uri in
        ["told://a/../../x", "told://con", "told://%2e%2e%2f%2e%2e%2fx", "told://.bashrc", &long]
    {
        switchboard.run(&["resources", "read", "told", uri, "--download"]).expect(0);
    }
    let names = remaining_files(&switchboard.path("."));
    assert_eq!(names.len(), 5, "{names:?}");
    let plain = |c: char| c.is_ascii_alphanumeric() || "-.".contains(c);
    assert!(names.iter().all(|name| name.len() < 80 && name.chars().all(plain)), "{names:?}");
    assert!(names.iter().all(|name| !name.starts_with('.')), "{names:?}");
    assert_eq!(
        remaining_files(switchboard.folder()).len(),
        2,
        "something was written beside the folder"
    );
}

#[test]
fn fs_06_a_file_that_is_there_stays_and_a_new_one_is_private() {
    let switchboard = echo();
    switchboard.write("there", "before");
    check_refused(&switchboard, &["there"]);
    assert_eq!(std::fs::read_to_string(switchboard.path("there")).unwrap(), "before");
    assert_eq!(read_into(&switchboard, "new").0, 0);
    let mode = std::fs::metadata(switchboard.path("new")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let force = ["resources", "read", "echo", TEXT, "--force", "--output", "there"];
    switchboard.run(&force).expect(0);
    assert_ne!(std::fs::read_to_string(switchboard.path("there")).unwrap(), "before");
    let mut names = remaining_files(&switchboard.path("."));
    names.sort();
    assert_eq!(names, ["new", "there"]);
}

#[test]
fn fs_07_an_address_of_a_file_is_asked_of_the_server_and_never_opened_here() {
    let mut switchboard = Switchboard::new();
    switchboard.set("CANARY_VARIABLE", "canary-in-our-environment");
    let file = switchboard.write("canary", "canary-in-a-file");
    let url = told_server::start(|_, params| Ok(content(params, "text", "the server's own words")));
    switchboard.configure(&json!({"told": {"url": url}}));
    let own = format!("file://{}", file.display());
    for uri in ["file:///proc/self/environ", "file:///etc/passwd", &own] {
        let read = switchboard.run(&["resources", "read", "told", uri]).expect(0);
        assert!(read.stdout.contains("the server's own words"), "{read:?}");
        assert!(!read.stdout.contains("canary-in") && !read.stdout.contains("root:"), "{read:?}");
    }
}

#[test]
fn fs_08_a_path_in_disguise_is_refused() {
    let switchboard = echo();
    check_refused(
        &switchboard,
        &[
            "%2e%2e%2fx", "%252e%252e%252fx", "..%2fx", "..\\x", "a\\..\\..\\x", "\u{2025}/x",
            "\u{ff0e}\u{ff0e}/x", "x ", "x.", "\\\\?\\C:\\x", "CON", "nul.txt", "a\u{202e}b",
            "a\tb",
        ],
    );
    assert_eq!(remaining_files(&switchboard.path(".")), [""; 0]);
}

#[test]
fn fs_10_what_is_too_long_or_not_what_it_claims_leaves_nothing_behind() {
    let url = told_server::start(|_, params| {
        let uri = params["uri"].as_str().unwrap_or_default();
        Ok(match uri {
            "told://wrong" => content(params, "blob", "this is no base64!"),
            "told://long" => content(params, "blob", &"AAAA".repeat(200_000)),
            _ => content(params, "blob", "AAAA"),
        })
    });
    let switchboard = Switchboard::new();
    let config = json!({
        "mcpServers": {"told": {"url": url}},
        "settings": {"resultLimitBytes": 100_000},
    });
    switchboard.write_config(&config.to_string());
    let read = |uri: &str| switchboard.run(&["resources", "read", "told", uri, "--output", "file"]);
    assert_eq!(read("told://wrong").code, 6);
    assert_eq!(read("told://long").code, 6);
    assert_eq!(remaining_files(&switchboard.path(".")), [""; 0]);
    assert_eq!(read("told://fine").code, 0);
    assert_eq!(std::fs::read(switchboard.path("file")).unwrap(), [0, 0, 0]);
    let recorded = switchboard.recorded_calls();
    assert_eq!(recorded.len(), 3, "{recorded:?}");
    assert!(recorded[1].contains("invalid_output"), "{recorded:?}");
}

fn content(params: &Value, key: &str, value: &str) -> Value {
    json!({"contents": [{"uri": params["uri"], key: value}]})
}
