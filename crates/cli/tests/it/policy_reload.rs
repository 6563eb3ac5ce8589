//! Rules that change while a host runs, and rules that cannot be read.

use serde_json::json;

use crate::gateway::{Gateway, Legacy, NEWEST_LEGACY};
use crate::running::{TEST_TIMEOUT, poll};
use crate::switchboard::{Switchboard, fixture};

fn deny(tool: &str) -> serde_json::Value {
    json!({"rules": [{"effect": "deny", "target": format!("echo/{tool}")}]})
}

#[test]
fn hk_03_rules_that_are_a_link_to_nowhere_are_no_absence_of_rules() {
    for level in ["enterprise", "project", "user"] {
        let switchboard = Switchboard::with(&json!({"echo": fixture(&["echo"])}));
        let file = switchboard.write_policy(level, &json!({}));
        std::fs::remove_file(&file).unwrap();
        std::os::unix::fs::symlink("/nowhere/policy.json", &file).unwrap();
        let refused = switchboard.run(&["call", "echo", "echo", "text=a"]).expect(3);
        assert!(refused.stderr.contains("is a broken link"), "{level}: {refused:?}");
    }
}

#[test]
fn hk_03_a_host_does_not_start_with_rules_that_cannot_be_read() {
    for (level, text, place) in [
        ("enterprise", "{\"rules\": [\n", "unterminated array"),
        ("project", "{\"rules\": [{\"effect\": \"deny\"}]}", "the rule has no `target`"),
        ("user", "{\"rulez\": []}", "`rulez` is not known"),
        (
            "user",
            "{\"rules\": [\n {\"effect\": \"allow\", \"target\": \"a/b\", \"when\": \"args.x >\"}]}",
            "`when` is not a valid CEL expression",
        ),
        (
            "user",
            r#"{"rules": [{"effect": "allow", "target": "a/b", "when": "args.x > 1", "match": [{"args": {"x": 1}}]}]}"#,
            "does not cover this example",
        ),
    ] {
        let switchboard = Switchboard::with(&json!({"echo": fixture(&["echo"])}));
        let file = switchboard.write_policy_text(level, text);
        for words in [
            &["call", "echo", "echo", "text=a"][..],
            &["tools"],
            &["serve", "--stdio"],
            &["doctor"],
        ] {
            let ran = switchboard.run(words).expect(3);
            assert!(ran.stderr.contains("the rules cannot be read"), "{words:?}: {ran:?}");
            assert!(ran.stderr.contains(place), "{words:?}: {ran:?}");
            assert!(ran.stderr.contains(&format!("{}:", file.display())), "{words:?}: {ran:?}");
        }
    }
}

#[test]
fn hk_03_new_rules_count_at_once_and_broken_ones_leave_the_old_in_force() {
    let switchboard = Switchboard::with(&json!({"echo": fixture(&["echo"])}));
    switchboard.write_policy("enterprise", &deny("add"));
    let watching = switchboard.start(&["servers", "list", "--watch"]);
    watching.wait_for("echo\tready");
    let gateway = Gateway::with_tool(&switchboard, &[], "echo__echo");
    let is_denied = |tool: &str, arguments: &serde_json::Value| {
        let answer = gateway.modern().call(tool, arguments).to_string();
        answer.contains("of the enterprise policy")
    };
    let echo = json!({"text": "a"});
    let add = json!({"a": 1, "b": 2});
    assert!(!is_denied("echo__echo", &echo) && is_denied("echo__add", &add));

    switchboard.write_policy("enterprise", &deny("echo"));
    let counted = poll(TEST_TIMEOUT, || is_denied("echo__echo", &echo).then_some(()));
    assert!(counted.is_some(), "new rules do not count");
    assert!(!is_denied("echo__add", &add));

    switchboard.write_policy_text("enterprise", "{\"rules\": [");
    watching.wait_for("unterminated array");
    assert!(is_denied("echo__echo", &echo), "the old rules are gone");
    // A broken configuration does not keep new rules from taking effect.
    switchboard.write_config("{");
    switchboard.write_policy("enterprise", &deny("add"));
    let counted = poll(TEST_TIMEOUT, || is_denied("echo__add", &add).then_some(()));
    assert!(counted.is_some(), "new rules do not count beside a broken configuration");
    assert!(!is_denied("echo__echo", &echo));
    watching.interrupt();
    watching.finish_within(TEST_TIMEOUT).expect(0);
}

#[test]
fn a_rule_that_comes_while_a_person_thinks_counts_whatever_the_answer() {
    let switchboard = Switchboard::with(&json!({"echo": fixture(&["echo"])}));
    for word in ["run", "session"] {
        let add = json!({"rules": [{"effect": "allow", "target": "echo/add"}]});
        switchboard.write_policy("enterprise", &add);
        let gateway = Gateway::with_tool(&switchboard, &["--review", "ask"], "echo__echo");
        let can = json!({"elicitation": {"form": {}}});
        let client = Legacy::open(&gateway.url, NEWEST_LEGACY, &can);
        let params = json!({"name": "echo__echo", "arguments": {"text": "a"}});
        let mut stream = client.send("tools/call", &params);
        let question = stream.next_message();
        assert_eq!(question["method"], "elicitation/create", "{word}: {question}");
        switchboard.write_policy("enterprise", &deny("*"));
        let is_denied = || {
            let answer = gateway.modern().call("echo__add", &json!({"a": 1, "b": 2}));
            answer.to_string().contains("of the enterprise policy")
        };
        assert!(poll(TEST_TIMEOUT, || is_denied().then_some(())).is_some(), "{word}");
        let result = json!({"action": "accept", "content": {"answer": word}});
        let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": result});
        assert_eq!(client.post(&answer).status, 202);
        let ended = stream.next_message().to_string();
        assert!(ended.contains("of the enterprise policy"), "{word}: {ended}");
    }
}

#[test]
fn whoever_serves_is_told_when_rules_are_gone_or_cannot_be_read() {
    let switchboard = Switchboard::with(&json!({"echo": fixture(&["echo"])}));
    let file = switchboard.write_policy("project", &deny("add"));
    let gateway = Gateway::with_tool(&switchboard, &[], "echo__echo");
    std::fs::remove_file(&file).unwrap();
    gateway
        .running
        .wait_for_note("the project policy was removed, and its rules no longer apply (");
    switchboard.write_policy_text("project", "{\"rules\": [");
    gateway.running.wait_for_note("unterminated array");
}
