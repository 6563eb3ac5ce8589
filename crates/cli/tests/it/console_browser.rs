//! The web console in a real browser, from signing in to finding a call in the record.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use crate::console_person::client_call;
use crate::running::Running;
use crate::serve_client::Serving;
use crate::switchboard::{Switchboard, fixture};
use crate::testenv::{NODE, installed};

/// A browser needs long where other tests run beside it.
const BROWSING: Duration = Duration::from_secs(240);

/// Where the pictures go that were taken on the way.
fn pictures() -> PathBuf {
    let packages = PathBuf::from(installed("browser"));
    let folder = packages.ancestors().nth(2).unwrap().join("console-pictures");
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn somebody_signs_in_looks_tries_approves_and_finds_it_again() {
    let switchboard = Switchboard::with(&json!({
        "echo": fixture(&["echo"]),
        "broken": {"command": "no-such-program-anywhere"},
    }));
    let serving = Serving::start(&switchboard, &["--review", "ask"]);
    serving.wait_for_tool(None, "echo__add");
    let script = format!("{}/../testkit/clients/console.mjs", env!("CARGO_MANIFEST_DIR"));
    let mut command = Command::new(installed(NODE));
    command
        .arg(script)
        .arg(installed("browser/node_modules"))
        .arg(serving.console_link())
        .arg(pictures());
    switchboard.surround(&mut command);
    let mut running = Running::start(&mut command);
    running.close_input();
    let is_ready = |so_far: &str| so_far.contains("ready for a call").then_some(());
    running.wait_for_error_within(BROWSING, is_ready);
    let site = *serving;
    let client = std::thread::spawn(move || {
        site.send(&client_call("echo__echo", &json!({"text": "from a client"})))
    });
    let seen: Value = running.finish_within(BROWSING).expect(0).json();
    assert!(seen["failed"].is_null(), "{seen}");
    assert!(client.join().unwrap().body.contains("from a client"));
    let expected = json!({
        "title": "Overview",
        "servers": ["broken", "builtin", "echo"],
        "sum": "{\n  \"sum\": 42\n}",
        "echoed": "<img src=x onerror=alert(1)>",
        "pictures": 0,
        "waiting": "1",
        "newest": "echo / echo",
        "steps": ["Proposed", "Decided: ask", "Sent", "Ended: ok"],
        "out": "Sign in",
        "errors": [],
        "dialogs": 0,
        "violations": [],
        "wide": [],
    });
    assert_eq!(seen, expected);
}
