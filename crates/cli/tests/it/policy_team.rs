//! A team's rules: by a path or a URL, with a digest.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use serde_json::{Value, json};

use crate::remote_server::free_port;
use crate::running::TEST_TIMEOUT;
use crate::switchboard::{Switchboard, fixture};
use crate::transcript::transcript;

const RULES: &str = r#"{"rules": [{"effect": "deny", "target": "echo/echo", "name": "team"}]}"#;

pub(crate) fn digest(text: &str) -> String {
    let digest = ring::digest::digest(&ring::digest::SHA256, text.as_bytes());
    digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn home(team: &Value) -> Switchboard {
    let switchboard = Switchboard::new();
    let config = json!({
        "mcpServers": {"echo": fixture(&["echo"])},
        "settings": {"team": {"policy": team}},
    });
    switchboard.write_config(&config.to_string());
    switchboard
}

const CALL: [&str; 4] = ["call", "echo", "echo", "text=a"];

#[test]
fn a_teams_file_counts_while_its_digest_is_right() {
    let switchboard = home(&json!({"path": "../work/team.json", "sha256": digest(RULES)}));
    let missing = switchboard.run(&CALL).expect(3);
    insta::assert_snapshot!(transcript(&missing), @"
    exit status 3
    --- stderr
    warning: the team's `policy.json` does not exist ([home]/own/../work/team.json)
    error: the rules cannot be read: the team's `policy.json` does not exist ([home]/own/../work/team.json)
    ");
    switchboard.write("team.json", RULES);
    let denied = switchboard.run(&CALL).expect(5);
    insta::assert_snapshot!(transcript(&denied), @"
    exit status 5
    --- stderr
    error: not allowed: `team` of the team policy ([home]/own/../work/team.json:1)
    ");
    switchboard.write("team.json", "{}");
    let other = switchboard.run(&CALL).expect(3);
    insta::assert_snapshot!(transcript(&other), @"
    exit status 3
    --- stderr
    warning: the team's `policy.json` does not match its `sha256` ([home]/own/../work/team.json)
    hint: ask the team which one is right
    error: the rules cannot be read: the team's `policy.json` does not match its `sha256` ([home]/own/../work/team.json)
    hint: ask the team which one is right
    ");
}

#[test]
fn a_teams_address_is_fetched_once_and_then_used_offline() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/policy.json", listener.local_addr().unwrap());
    let serving = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = [0; 4096];
        let _ = stream.read(&mut request).unwrap();
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n", RULES.len());
        write!(stream, "{head}Connection: close\r\n\r\n{RULES}").unwrap();
    });
    let switchboard = home(&json!({"url": url, "sha256": digest(RULES)}));
    switchboard.run(&CALL).expect(5);
    serving.join().unwrap();
    // The rules server has stopped.
    switchboard.run(&CALL).expect(5);
    let elsewhere = home(&json!({"url": url, "sha256": digest(RULES)}));
    let refused = elsewhere.run(&CALL).expect(3);
    insta::assert_snapshot!(transcript(&refused), @"
    exit status 3
    --- stderr
    warning: the team's file cannot be fetched: error sending request for url (http://127.0.0.1:[port]/policy.json) (http://127.0.0.1:[port]/policy.json)
    warning: the team's `policy.json` does not exist ([home]/own/state/team/[digest].json)
    hint: check that http://127.0.0.1:[port]/policy.json is reachable
    error: the rules cannot be read: the team's `policy.json` does not exist ([home]/own/state/team/[digest].json)
    hint: check that http://127.0.0.1:[port]/policy.json is reachable
    ");
}

#[test]
fn why_a_teams_address_cannot_be_fetched_is_told_to_whoever_watches() {
    let switchboard = Switchboard::with(&json!({"echo": fixture(&["echo"])}));
    let watching = switchboard.start(&["servers", "list", "--watch"]);
    watching.wait_for("echo\tready");
    let url = format!("http://127.0.0.1:{}/policy.json", free_port());
    let config = json!({
        "mcpServers": {"echo": fixture(&["echo"])},
        "settings": {"team": {"policy": {"url": url, "sha256": digest(RULES)}}},
    });
    switchboard.write_config(&config.to_string());
    watching.wait_for("the team's file cannot be fetched");
    watching.interrupt();
    watching.finish_within(TEST_TIMEOUT).expect(0);
}

#[test]
fn a_copy_of_a_teams_file_that_was_damaged_is_fetched_again() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/policy.json", listener.local_addr().unwrap());
    let serving = std::thread::spawn(move || {
        for _ in 0..2 {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = [0; 4096];
            let _ = stream.read(&mut request).unwrap();
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n", RULES.len());
            write!(stream, "{head}Connection: close\r\n\r\n{RULES}").unwrap();
        }
    });
    let switchboard = home(&json!({"url": url, "sha256": digest(RULES)}));
    switchboard.run(&CALL).expect(5);
    let copy = format!("own/state/team/{}.json", digest(RULES));
    let copy = switchboard.folder().join(copy);
    assert_eq!(std::fs::read_to_string(&copy).unwrap(), RULES);
    std::fs::write(&copy, "{}").unwrap();
    switchboard.run(&CALL).expect(5);
    assert_eq!(std::fs::read_to_string(&copy).unwrap(), RULES);
    serving.join().unwrap();
}

#[test]
fn a_project_cannot_name_a_team_and_an_address_needs_a_digest() {
    let switchboard = Switchboard::with(&json!({"echo": fixture(&["echo"])}));
    switchboard.write("team.json", RULES);
    let settings = json!({"settings": {"team": {"policy": {"path": "team.json"}}}});
    switchboard.write("switchboard.json", &settings.to_string());
    let ran = switchboard.run(&CALL).expect(0);
    insta::assert_snapshot!(transcript(&ran), @"
    exit status 0
    --- stdout
    a
    --- stderr
    warning: `settings.team` cannot be widened by a project, so it is ignored ([work]/switchboard.json:1)
    warning: `settings.team` cannot be widened by a project, so it is ignored ([work]/switchboard.json:1)
    ");
    let without = home(&json!({"url": "https://team.example/policy.json"}));
    let ran = without.run(&CALL).expect(3);
    insta::assert_snapshot!(transcript(&ran), @"
    exit status 3
    --- stderr
    warning: a team's `url` needs its `sha256` ([home]/own/config.json:1, key `settings.team`)
    hint: `sha256sum FILE` prints it
    error: the rules cannot be read: a team's `url` needs its `sha256` ([home]/own/config.json:1, key `settings.team`)
    hint: `sha256sum FILE` prints it
    ");
    // The organisation's setting overrides the user's.
    let organised = home(&json!({"path": "nowhere.json"}));
    organised.write("team.json", RULES);
    let file = organised.path("team.json");
    organised.write_policy("enterprise", &json!({"team": {"policy": {"path": file}}}));
    let denied = organised.run(&CALL).expect(5);
    insta::assert_snapshot!(transcript(&denied), @"
    exit status 5
    --- stderr
    error: not allowed: `team` of the team policy ([work]/team.json:1)
    ");
}
