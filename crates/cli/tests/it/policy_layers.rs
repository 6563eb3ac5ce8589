//! Rules on several levels: the strictest wins, and calls that no rule covers need approval.

use serde_json::{Value, json};

use crate::running::{RunningProcess, TEST_TIMEOUT};
use crate::switchboard::{Switchboard, fixture};
use crate::transcript::transcript;

fn rule(effect: &str) -> Value {
    json!({"rules": [{"effect": effect, "target": "echo/echo"}]})
}

/// Returns the exit code and verdict of a call that a model proposes, with no person to ask.
fn run_proposed(levels: &[(&str, &str)]) -> (i32, String) {
    let switchboard = Switchboard::with(&json!({"echo": fixture(&["echo"])}));
    for (level, effect) in levels {
        switchboard.write_policy(level, &rule(effect));
    }
    let code = switchboard.run(&["call", "echo", "echo", "text=a", "--review"]).code;
    let calls = switchboard.json(&["calls"]);
    (code, calls[0]["verdict"].as_str().unwrap_or_default().to_owned())
}

#[test]
fn the_strictest_level_counts() {
    for (levels, code, verdict) in [
        (&[("enterprise", "allow")][..], 0, "allow"),
        (&[("user", "allow")], 0, "allow"),
        (&[("enterprise", "allow"), ("user", "ask")], 5, "ask"),
        (&[("enterprise", "ask"), ("user", "allow")], 5, "ask"),
        (&[("enterprise", "allow"), ("project", "deny"), ("user", "allow")], 5, "deny"),
        (&[("enterprise", "deny"), ("user", "allow")], 5, "deny"),
        // The project's author cannot approve anything.
        (&[("project", "allow")], 5, "ask"),
    ] {
        assert_eq!(run_proposed(levels), (code, verdict.to_owned()), "{levels:?}");
    }
}

#[test]
fn hk_05_what_no_rule_speaks_of_does_not_run_unasked() {
    let switchboard = Switchboard::with(&json!({"echo": fixture(&["echo"])}));
    let other = json!({"rules": [{"effect": "allow", "target": "other/*"}]});
    switchboard.write_policy("enterprise", &other);
    let ran = switchboard.run(&["call", "echo", "echo", "text=a", "--review"]).expect(5);
    insta::assert_snapshot!(transcript(&ran), @"
    exit status 5
    --- stderr
    error: `echo/echo` needs approval, but there is no terminal to ask on
    hint: run it at a terminal or with `--wait-for-review`, or add `echo` to `autoApprove` of server `echo` and turn on `settings.autoApprove`
    ");
}

#[test]
fn a_person_who_types_a_call_is_not_asked_about_it_but_held_to_what_is_denied() {
    let switchboard = Switchboard::with(&json!({"echo": fixture(&["echo"])}));
    let call = ["call", "echo", "echo", "text=a"];
    switchboard.write_policy("project", &rule("ask"));
    switchboard.run(&call).expect(0);
    switchboard.write_policy("project", &rule("deny"));
    switchboard.run(&call).expect(5);
}

#[test]
fn pl_11_what_a_server_says_about_itself_lets_nothing_run() {
    // The fixture annotates `echo` as read-only.
    let entry = fixture(&["echo"]);
    let policy = json!({"readOnly": true});
    let call = |entry: &Value| {
        let switchboard = Switchboard::with(&json!({ "echo": entry }));
        switchboard.write_policy("enterprise", &policy);
        switchboard.run(&["call", "echo", "echo", "text=a", "--json"])
    };
    let refused = call(&entry).expect(5).json();
    let is_readonly = [&refused["outcome"], &refused["reason"], &refused["is_readonly"]];
    assert_eq!(is_readonly, [&json!("denied"), &json!("read_only"), &json!(true)]);
    // The operator's annotation counts, and that of a server that the operator trusts.
    let mut vouched = entry.clone();
    vouched["tools"] = json!({"echo": {"readOnly": true}});
    call(&vouched).expect(0);
    let mut trusted = entry.clone();
    trusted["trusted"] = json!(true);
    call(&trusted).expect(0);
    // Nor does the server's annotation relax an approval.
    let switchboard = Switchboard::with(&json!({ "echo": entry }));
    switchboard.run(&["call", "echo", "echo", "text=a", "--review"]).expect(5);
}

#[test]
fn the_organisation_can_take_the_switch_and_the_tools_away() {
    let config = json!({
        "mcpServers": {"echo": fixture(&["echo"])},
        "settings": {"autoApprove": true},
    });
    let mut config = config;
    config["mcpServers"]["echo"]["autoApprove"] = json!(["echo", "add"]);
    let switchboard = Switchboard::new();
    switchboard.write_config(&config.to_string());
    let proposed = |code: i32| {
        switchboard.run(&["call", "echo", "echo", "text=a", "--review"]).expect(code);
    };
    proposed(0);
    switchboard.write_policy("enterprise", &json!({"autoApprove": false}));
    proposed(5);
    switchboard.write_policy("enterprise", &json!({"controls": {"allowed_tools": ["echo:add"]}}));
    proposed(5);
    switchboard.run(&["call", "echo", "echo", "text=a"]).expect(5);
    switchboard.run(&["call", "echo", "add", "a=1", "b=2"]).expect(0);
    switchboard.write_policy("enterprise", &json!({"controls": {"enabled": false}}));
    switchboard.run(&["call", "echo", "add", "a=1", "b=2"]).expect(5);
    switchboard.write_policy("enterprise", &json!({"controls": {"enabled": true}}));
    proposed(0);
}

#[test]
fn rules_of_the_repository_root_count_in_every_folder_of_it() {
    let switchboard = Switchboard::with(&json!({"it": fixture(&["echo"])}));
    switchboard
        .write_policy("project", &json!({"rules": [{"effect": "deny", "target": "it/echo"}]}));
    std::fs::create_dir_all(switchboard.path(".git")).unwrap();
    std::fs::create_dir_all(switchboard.path("a/b")).unwrap();
    let call = |code: i32| {
        let mut command = switchboard.command(&["call", "it", "echo", "text=a"]);
        let command = command.current_dir(switchboard.path("a/b"));
        RunningProcess::start(command).finish_within(TEST_TIMEOUT).expect(code)
    };
    call(5);
    // Files in deeper folders narrow the rules as well, and take nothing away.
    switchboard.write("a/switchboard.json", "{}");
    switchboard.write("a/b/.switchboard/policy.json", r#"{"rules": []}"#);
    call(5);
    switchboard.write("a/b/.switchboard/policy.json", "{");
    call(3);
}
