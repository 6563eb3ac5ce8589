//! A home written by an earlier program: configuration, record, conversations, decisions are read.
//!
//! `old_home/home` was written by commit 5782fc7, before the engine was cut into crates, at
//! `/opt/old-home`. Its gateway was killed during calls, so one call is in the journal alone, two
//! have no outcome yet and a review is pending. Three things were edited afterwards: the databases
//! are checkpointed, the pending review expires in 2100, and the long result is no longer in
//! `notes.json`. `old_home/printed` holds the output of that program for the same home, without the
//! members that depend on the time of reading.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::scripted::{steps, task};
use crate::serve_client::{ServingGateway, tool_call};
use crate::switchboard::{Switchboard, result_text};

/// Folder in which the old program ran.
const OLD_FOLDER: &str = "/opt/old-home";
const TOKEN_KEY: &str = "the key of the old home";
const SECRET: &str = "hunter2-hunter2-hunter2";
/// The token `laptop`, which the old program printed once.
const TOKEN: &str = "sb_A1edT84IU65jwJR0jDZ6XrCm1TlP0ZAhB1klwMeGinY";

fn fixture_folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/old_home").join(name)
}

/// Returns a copy of the old home.
fn old_home() -> Switchboard {
    let mut switchboard = Switchboard::new();
    copy_private(&fixture_folder("home"), switchboard.folder());
    // Approvals of a project name its folder, which differs in the copy.
    let approvals = switchboard.folder().join("own/state/approvals.json");
    let folder = switchboard.folder().canonicalize().unwrap();
    let text = fs::read_to_string(&approvals).unwrap();
    fs::write(&approvals, text.replace(OLD_FOLDER, folder.to_str().unwrap())).unwrap();
    // The entries name the fixture program without its folder.
    let programs = switchboard_testkit::binary().parent().unwrap().display().to_string();
    let path = std::env::var("PATH").unwrap_or_default();
    switchboard.set("PATH", &format!("{programs}:{path}"));
    switchboard.set("SWITCHBOARD_TOKEN_KEY", TOKEN_KEY);
    switchboard
}

/// Copies a folder with the permissions that the program gives its files; a checkout has others.
fn copy_private(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    fs::set_permissions(to, Permissions::from_mode(0o700)).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_private(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), &target).unwrap();
            fs::set_permissions(&target, Permissions::from_mode(0o600)).unwrap();
        }
    }
}

/// Returns the output of the old program.
fn printed(name: &str) -> Value {
    let text = fs::read_to_string(fixture_folder("printed").join(format!("{name}.json"))).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Returns the output of a command of the current program, with the present folder replaced by the
/// old one.
fn reads(switchboard: &Switchboard, words: &[&str]) -> Value {
    let text = switchboard.run(&[words, &["--json"]].concat()).expect(0).stdout;
    let folder = switchboard.folder();
    let real = folder.canonicalize().unwrap();
    let text = text.replace(real.to_str().unwrap(), OLD_FOLDER);
    serde_json::from_str(&text.replace(folder.to_str().unwrap(), OLD_FOLDER)).unwrap()
}

/// Fails unless everything that the old program printed is still there; members may be added.
fn assert_kept(old: &Value, new: &Value, place: &str) {
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => {
            for (key, value) in old {
                let found = new.get(key).unwrap_or_else(|| panic!("{place}/{key} is missing"));
                assert_kept(value, found, &format!("{place}/{key}"));
            }
        }
        (Value::Array(old), Value::Array(new)) => {
            assert_eq!(old.len(), new.len(), "{place}: {new:?}");
            for (index, (old, new)) in old.iter().zip(new).enumerate() {
                assert_kept(old, new, &format!("{place}/{index}"));
            }
        }
        _ => assert_eq!(old, new, "{place}"),
    }
}

#[test]
fn everything_that_was_kept_is_listed_as_before() {
    let switchboard = old_home();
    let lists: [(&str, &[&str]); 15] = [
        ("calls", &["calls", "--limit", "100"]),
        ("audit", &["calls", "audit"]),
        ("tasks", &["tasks"]),
        ("review", &["review", "list"]),
        ("remembered", &["review", "remembered"]),
        ("sessions", &["sessions", "list"]),
        ("session-sums", &["sessions", "show", "sums"]),
        ("tokens", &["tokens", "list"]),
        ("secrets", &["secrets", "list"]),
        ("pins", &["pins", "list"]),
        ("pins-held", &["pins", "list", "--held"]),
        ("pins-diff", &["pins", "diff", "notes"]),
        ("policy", &["policy"]),
        ("hooks", &["hooks"]),
        ("logs", &["servers", "logs", "notes"]),
    ];
    for (name, words) in lists {
        assert_kept(&printed(name), &reads(&switchboard, words), name);
    }
    for (id, entry) in printed("review-show").as_object().unwrap() {
        assert_kept(entry, &reads(&switchboard, &["review", "show", id]), id);
    }
}

#[test]
fn calls_are_shown_whole_and_the_seal_holds_also_after_a_new_call() {
    let switchboard = old_home();
    let old = printed("calls-show");
    let mut outcomes = Vec::new();
    for (id, call) in old.as_object().unwrap() {
        assert_kept(call, &reads(&switchboard, &["calls", "show", id]), &format!("call {id}"));
        outcomes.push(call["outcome"].as_str().unwrap_or("none"));
    }
    outcomes.sort_unstable();
    outcomes.dedup();
    let all = ["denied", "none", "not_sent", "ok", "rejected", "tool_error", "unknown"];
    assert_eq!(outcomes, all);
    // Long texts are in files next to the database.
    let shown = |id: &str| switchboard.json(&["calls", "show", id]);
    assert_eq!(result_text(&shown("8")), "abcdefghij".repeat(6_800));
    assert_eq!(shown("9")["arguments"]["text"], "0123456789".repeat(700));
    // This call was in the journal alone.
    assert_eq!(shown("92")["result"]["structuredContent"], json!({"sum": 42}));

    let verified = switchboard.run(&["calls", "verify"]).expect(0);
    assert!(verified.stdout.starts_with("28 calls "), "{verified:?}");
    let recorded = switchboard.call(&["builtin", "echo", "text=after"], 0);
    assert_eq!(recorded["recorded"], true);
    let listed = switchboard.json(&["calls", "--limit", "100"]);
    let listed = listed.as_array().unwrap();
    assert_eq!(listed.len(), old.as_object().unwrap().len() + 1);
    assert_eq!(listed[0]["id"], recorded["id"]);
    assert_eq!(shown(recorded["id"].as_str().unwrap())["arguments"], json!({"text": "after"}));
    let verified = switchboard.run(&["calls", "verify"]).expect(0);
    assert!(verified.stdout.starts_with("29 calls "), "{verified:?}");
}

#[test]
fn decisions_of_the_person_are_still_in_force() {
    let switchboard = old_home();
    let explained = ["policy", "explain", "notes/write", "--args", r#"{"key": "a"}"#];
    assert_kept(&printed("explain"), &reads(&switchboard, &explained), "explain");
    for (words, code, outcome, reason) in [
        // The approved server of the project.
        (&["team", "forecast", "city=Oslo"][..], 0, "ok", Value::Null),
        // The answer `always`.
        (&["notes", "add", "a:=1", "b:=1", "--review"], 0, "ok", Value::Null),
        // A definition that changed after it was pinned.
        (&["notes", "read"], 5, "denied", json!("needs_approval")),
        // Rules of the user and of the project.
        (&["notes", "write", "key=a"], 5, "denied", json!("policy")),
        (&["notes", "search", "query=a"], 5, "denied", json!("policy")),
        (&["notes", "echo", "text=a", "--review"], 5, "denied", json!("unanswered")),
        // Findings of the scanner: accepted for one definition, not for the other.
        (&["flagged", "save", "note=x"], 0, "ok", Value::Null),
        (&["poisoned", "send"], 4, "not_sent", json!("held")),
    ] {
        let called = switchboard.call(words, code);
        assert_eq!(
            [&called["outcome"], &called["reason"]],
            [&json!(outcome), &reason],
            "{words:?}"
        );
    }
    // The secret was sealed with the key of the old home.
    assert_eq!(fs::read_to_string(switchboard.path("token.txt")).unwrap(), SECRET);
    // The approved hook of the project ran.
    let reported = switchboard.call(&["notes", "report"], 0);
    let shown = switchboard.json(&["calls", "show", reported["id"].as_str().unwrap()]);
    let old = &printed("calls-show")["10"];
    let hook = |call: &Value| {
        let found = call["steps"].as_array().unwrap().iter().find(|step| step["what"] == "hook");
        found.map(|step| json!([step["hook"], step["level"], step["answer"]]))
    };
    assert!(hook(old).is_some(), "{old}");
    assert_eq!(hook(&shown), hook(old));
}

#[test]
fn the_lock_file_and_the_era_memory_are_read() {
    let switchboard = old_home();
    let file = switchboard.path("switchboard.lock");
    let mut lock: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    // The fixture servers have the version of this workspace.
    let version = format!("switchboard-testkit {}", env!("CARGO_PKG_VERSION"));
    for server in lock["servers"].as_object_mut().unwrap().values_mut() {
        server["server"] = json!(version);
    }
    fs::write(&file, lock.to_string()).unwrap();
    let eras = || fs::read_to_string(switchboard.folder().join("own/state/eras.json")).unwrap();
    let before = eras();
    switchboard.call(&["notes", "add", "a:=1", "b:=1", "--locked"], 0);
    let refused = switchboard.call(&["notes", "read", "--locked"], 5);
    assert_eq!(refused["reason"], "needs_approval");
    // A server that was known under another key would have been added.
    assert_eq!(eras(), before);
}

#[test]
fn a_conversation_continues_after_its_last_step() {
    let switchboard = old_home();
    let before = printed("session-sums")["steps"].as_array().unwrap().len();
    let ran = task(&switchboard, &["--resume", "sums", "And more?"]);
    assert_eq!(ran.stdout, "There is more.\n");
    let after = steps(&switchboard, "sums");
    assert_eq!(after.len(), before + 2);
    assert_eq!(after[before]["text"], "And more?");
}

#[test]
fn the_gateway_accepts_the_token_and_the_pending_review_is_answered() {
    let switchboard = old_home();
    let pending = printed("review")[0]["id"].as_str().unwrap().to_owned();
    switchboard.run(&["review", "answer", &pending, "run"]).expect(0);
    let serving = ServingGateway::start(&switchboard, &["--require-token", "--review", "ask"]);
    serving.wait_for_tool(Some(TOKEN), "notes__echo");
    let tools = serving.tools(Some(TOKEN));
    let allowed = |name: &String| name.starts_with("notes__") || name.starts_with("builtin__time_");
    assert!(tools.iter().all(allowed), "{tools:?}");
    let call = tool_call(Some(TOKEN), "notes__echo", &json!({"text": "from a client"}));
    assert_eq!(result_text(&serving.send(&call).json()), "hello");
}
