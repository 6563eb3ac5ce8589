//! A running host reloads hook files: complete ones take effect at once, partial ones do not.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::gateway::modern_params;
use crate::hook_scripts::{before, echo};
use crate::policy_team::digest;
use crate::running::{RunningProcess, TEST_TIMEOUT, poll};
use crate::serve_stdio::{ask, wait_listed};
use crate::switchboard::Switchboard;

struct Client {
    running: RunningProcess,
    last: u64,
}

impl Client {
    fn new(switchboard: &Switchboard) -> Self {
        let mut running = switchboard.start(&["serve", "--stdio"]);
        wait_listed(&mut running, &modern_params(&json!({}), &json!({})), "echo__write");
        Self { running, last: 5_000 }
    }

    /// Returns the text of a call's result or refusal.
    fn call(&mut self) -> String {
        self.last += 1;
        let call = json!({"name": "echo__write", "arguments": {"key": "a"}});
        let params = modern_params(&call, &json!({}));
        ask(&mut self.running, self.last, "tools/call", &params).to_string()
    }

    fn wait_for(&mut self, words: &str) {
        let mut last = String::new();
        let found = poll(TEST_TIMEOUT, || {
            last = self.call();
            last.contains(words).then_some(())
        });
        assert!(found.is_some(), "no `{words}`: {last}");
    }
}

fn denying(words: &str) -> Value {
    before(&[json!({"command": format!("echo '{words}' >&2; exit 2")})])
}

#[test]
fn hooks_that_are_written_later_count_and_half_a_file_changes_nothing() {
    let switchboard = echo();
    let mut client = Client::new(&switchboard);
    assert!(!client.call().contains("denied the call"));
    switchboard.hooks("own/hooks.json", &denying("closed today"));
    client.wait_for("closed today");
    std::fs::write(switchboard.folder().join("own/hooks.json"), "{\"hooks\": {").unwrap();
    // Longer than the host needs to notice a change.
    let end = Instant::now() + Duration::from_secs(1);
    while Instant::now() < end {
        let said = client.call();
        assert!(said.contains("closed today"), "{said}");
    }
    switchboard.hooks("own/hooks.json", &denying("closed tomorrow"));
    client.wait_for("closed tomorrow");
    std::fs::remove_file(switchboard.folder().join("own/hooks.json")).unwrap();
    let mut last = String::new();
    let open = poll(TEST_TIMEOUT, || {
        last = client.call();
        (!last.contains("closed tomorrow")).then_some(())
    });
    assert!(open.is_some() && !last.contains("hook"), "{last}");
}

#[test]
fn a_project_whose_approved_hooks_change_is_stopped_while_it_runs() {
    let switchboard = echo();
    switchboard.script("work/check.sh", "echo '{\"permission\":\"allow\"}'");
    switchboard.hooks("work/.cursor/hooks.json", &before(&[json!({"command": "./check.sh"})]));
    switchboard.run(&["hooks", "approve"]).expect(0);
    let mut client = Client::new(&switchboard);
    assert!(!client.call().contains("hook"));
    switchboard.script("work/check.sh", "touch ran; echo '{\"permission\":\"allow\"}'");
    let said = client.call();
    assert!(said.contains("approval"), "{said}");
    client.wait_for("have changed since they were approved");
    assert!(!switchboard.path("ran").exists());
    switchboard.run(&["hooks", "approve"]).expect(0);
    let open = poll(TEST_TIMEOUT, || (!client.call().contains("approv")).then_some(()));
    assert!(open.is_some() && switchboard.path("ran").exists());
}

#[test]
fn hooks_of_a_team_count_as_their_digest_says_while_the_host_runs() {
    let switchboard = echo();
    let file = switchboard.hooks("team.json", &denying("closed by the team"));
    let text = std::fs::read_to_string(&file).unwrap();
    let mut config: Value = serde_json::from_str(&switchboard.config_text()).unwrap();
    config["settings"] = json!({"team": {"hooks": {"path": file, "sha256": digest(&text)}}});
    switchboard.write_config(&config.to_string());
    let mut client = Client::new(&switchboard);
    assert!(client.call().contains("closed by the team"));
    // The file is replaced by other hooks, and by none at all.
    let ran = switchboard.text_path("ran");
    let other = before(&[json!({"command": format!("touch '{ran}'")})]);
    for text in [other.to_string(), "{}".to_owned()] {
        std::fs::write(&file, text).unwrap();
        let end = Instant::now() + Duration::from_secs(1);
        while Instant::now() < end {
            let said = client.call();
            assert!(said.contains("closed by the team"), "{said}");
        }
    }
    assert!(!switchboard.path("ran").exists(), "other hooks were run");
}
