//! The desktop notifies about waiting calls if the settings enable it.
#![cfg(target_os = "linux")]

use std::path::Path;

use serde_json::{Value, json};

use crate::running::{RunningProcess, TEST_TIMEOUT, poll, wait_for_text};
use crate::switchboard::{Switchboard, fixture};

/// Starts a call that waits, with this script instead of the desktop's own `notify-send`.
fn waiting(
    switchboard: &Switchboard,
    settings: &Value,
    notify_send: &str,
) -> (RunningProcess, Value) {
    let config = json!({"mcpServers": {"echo": fixture(&["echo"])}, "settings": settings});
    switchboard.write_config(&config.to_string());
    switchboard.script("bin/notify-send", notify_send);
    let path = std::env::var("PATH").unwrap_or_default();
    let programs = switchboard.folder().join("bin");
    let words = ["call", "echo", "echo", "text=<b>", "--review", "--wait-for-review"];
    let mut command = switchboard.command(&words);
    command.env("PATH", format!("{}:{path}", programs.display()));
    let running = RunningProcess::start(&mut command);
    let entry = poll(TEST_TIMEOUT, || switchboard.json(&["review"]).get(0).cloned());
    (running, entry.expect("something waits"))
}

fn finish(switchboard: &Switchboard, running: RunningProcess, entry: &Value) {
    switchboard.run(&["review", "answer", entry["id"].as_str().unwrap(), "run"]).expect(0);
    running.finish_within(TEST_TIMEOUT).expect(0);
}

fn shown(switchboard: &Switchboard) -> std::path::PathBuf {
    switchboard.folder().join("shown")
}

fn noting(file: &Path) -> String {
    format!("for word; do echo \"$word\" >> '{}'; done\necho end >> '{0}'", file.display())
}

#[test]
fn a_review_that_waits_is_shown_on_the_desktop() {
    let switchboard = Switchboard::new();
    let file = shown(&switchboard);
    let (running, entry) = waiting(&switchboard, &json!({"notifications": true}), &noting(&file));
    let text = wait_for_text(&file, "end\n");
    let id = entry["id"].as_str().unwrap();
    let expected = format!(
        "--app-name=Switchboard\n--\nSwitchboard waits for you\nreview {id}: echo/echo\nend\n"
    );
    assert_eq!(text, expected);
    finish(&switchboard, running, &entry);
}

#[test]
fn nothing_is_shown_unless_the_settings_say_so() {
    let switchboard = Switchboard::new();
    let file = shown(&switchboard);
    let (running, entry) = waiting(&switchboard, &json!({}), &noting(&file));
    finish(&switchboard, running, &entry);
    assert!(!file.exists());
}

#[test]
fn a_desktop_that_fails_changes_nothing() {
    let switchboard = Switchboard::new();
    let file = shown(&switchboard);
    let script = format!("{}\nexit 1", noting(&file));
    let (running, entry) = waiting(&switchboard, &json!({"notifications": true}), &script);
    wait_for_text(&file, "end\n");
    finish(&switchboard, running, &entry);
}
