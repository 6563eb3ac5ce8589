//! The web console in a real browser, from signing in to finding a call in the record.

use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use crate::console_apps;
use crate::console_person::client_call;
use crate::running::Running;
use crate::serve_client::Serving;
use crate::switchboard::{Switchboard, fixture};
use crate::testenv::{NODE, installed};
use crate::told_server;

/// A browser needs long where other tests run beside it.
const BROWSING: Duration = Duration::from_secs(240);

#[test]
fn somebody_signs_in_looks_tries_approves_and_finds_it_again() {
    let switchboard = Switchboard::new();
    let overlay = switchboard.text_path("overlay");
    switchboard.configure(&json!({
        "echo": fixture(&["echo"]),
        "drifting": fixture(&["echo", "--overlay", &overlay]),
        "apps": {"url": told_server::start_whole(console_apps::says)},
        "broken": {"command": "no-such-program-anywhere"},
    }));
    let serving = Serving::start(&switchboard, &["--review", "ask"]);
    serving.wait_for_tool(None, "echo__add");
    serving.wait_for_tool(None, "drifting__add");
    let script = format!("{}/../testkit/clients/console.mjs", env!("CARGO_MANIFEST_DIR"));
    let mut entry = fixture(&["echo"]);
    entry["env"] = json!({"TOKEN": "not-to-be-seen", "PLACE": "${HOME}"});
    let mut command = Command::new(installed(NODE));
    command
        .arg(script)
        .arg(installed("browser/node_modules"))
        .arg(serving.console_link())
        .arg(overlay)
        .arg(entry.to_string());
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
        "servers": ["apps", "broken", "builtin", "drifting", "echo"],
        "entry": {"TOKEN": "[kept]", "PLACE": "${HOME}"},
        "sum": "{\n  \"sum\": 42\n}",
        "echoed": "<img src=x onerror=alert(1)>",
        "pictures": 0,
        "difference": [
            "- description: \"Answers with the text.\"",
            "+ description: \"Now it shouts.\"",
        ],
        "approved": "Now it shouts.",
        "verdict": "ask",
        "otherwise": true,
        "app": ["\"show\" for \"Ada\"", "\"other\" for null", "no parent, no cookie", "222px"],
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
