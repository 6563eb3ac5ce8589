//! `switchboard policy`: the rules in force, their decisions, and the effect of changes.

use serde_json::{Value, json};

use crate::given::{server_entry, tool};
use crate::switchboard::{Switchboard, fixture};
use crate::transcript::transcript;

fn home() -> Switchboard {
    let switchboard = Switchboard::with(&json!({"echo": fixture(&["echo"])}));
    switchboard.write_policy_text(
        "enterprise",
        r#"{
  // The organisation's rules.
  "rules": [
    {
      "effect": "deny",
      "target": "*/write",
      "name": "no writing",
      "when": "args.key != 'a'",
      "match": [{"target": "echo/write", "args": {"key": "b"}}],
      "not_match": [{"target": "echo/write", "args": {"key": "a"}}],
    },
  ],
}"#,
    );
    let own = json!({"rules": [{"effect": "allow", "target": "echo/*"}]});
    switchboard.write_policy("user", &own);
    switchboard
}

#[test]
fn show_lists_the_rules_by_level_with_their_place() {
    let switchboard = home();
    let shown = switchboard.json(&["policy"]);
    let rows: Vec<[&str; 4]> = shown
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            ["level", "effect", "target", "name"].map(|key| row[key].as_str().unwrap_or("none"))
        })
        .collect();
    assert_eq!(
        rows,
        [["enterprise", "deny", "*/write", "no writing"], ["user", "allow", "echo/*", "none"]]
    );
    assert!(shown[0]["place"].as_str().unwrap().ends_with("system/policy.json:4"), "{shown}");
    let text = switchboard.run(&["policy", "show"]).expect(0).stdout;
    assert!(text.contains("enterprise\tdeny\t*/write\targs.key != 'a'\t"), "{text}");
}

#[test]
fn check_counts_what_is_well_and_places_what_is_not() {
    let switchboard = home();
    let counted = switchboard.json(&["policy", "check"]);
    assert_eq!([&counted["rules"], &counted["examples"]], [&json!(2), &json!(2)]);
    let bad = r#"{"rules": [{"effect": "deny", "target": "a/b", "when": "arg.x"}]}"#;
    switchboard.write("bad.json", bad);
    let ran = switchboard.run(&["policy", "check", "bad.json"]).expect(3);
    insta::assert_snapshot!(transcript(&ran), @"
    exit status 3
    --- stderr
    error: `when` uses the unknown variable `arg` ([work]/bad.json:1:57)
    hint: did you mean `args`?
    ");
}

#[test]
fn check_finds_what_no_call_could_make_right() {
    let switchboard = home();
    let mut seen = Vec::new();
    for when in [
        "args.x.matches('(')",
        "sesion.reads == []",
        "tool.annotations.destructiveHnt",
        "path_in(args.path)",
        "risk.score > '50'",
    ] {
        let bad =
            format!(r#"{{"rules": [{{"effect": "deny", "target": "a/b", "when": "{when}"}}]}}"#);
        switchboard.write("bad.json", &bad);
        let ran = switchboard.run(&["policy", "check", "bad.json"]).expect(3);
        seen.push(transcript(&ran));
    }
    insta::assert_snapshot!(seen.join("\n\n"), @r"
    exit status 3
    --- stderr
    error: `when` has `(`, which is not a valid regular expression: unclosed group ([work]/bad.json:1:72)
    hint: escape a special character with a backslash: r'\(' in a condition, r'\\(' in JSON

    exit status 3
    --- stderr
    error: `when` uses the unknown variable `sesion` ([work]/bad.json:1:57)
    hint: did you mean `session`?

    exit status 3
    --- stderr
    error: `when` uses the unknown member `destructiveHnt` ([work]/bad.json:1:74)
    hint: did you mean `destructiveHint`?

    exit status 3
    --- stderr
    error: `when` calls `path_in` incorrectly ([work]/bad.json:1:57)
    hint: write `path_in(args.path, '/data')`

    exit status 3
    --- stderr
    error: `when` compares a number with a text ([work]/bad.json:1:68)
    hint: write a number without quotes
    ");
    // A pattern computed at call time is validated then, and denies the call if it is invalid.
    let computed = json!({"rules": [
        {"effect": "allow", "target": "echo/echo", "when": "'a'.matches('(' + args.text)"},
    ]});
    switchboard.write_policy("user", &computed);
    switchboard.run(&["policy", "check"]).expect(0);
    switchboard.run(&["call", "echo", "echo", "text=a)"]).expect(0);
    let ran = switchboard.run(&["call", "echo", "echo", "text=a"]).expect(5);
    insta::assert_snapshot!(transcript(&ran), @"
    exit status 5
    --- stderr
    error: not allowed: `allow echo/echo` of the user policy, whose `when` cannot be evaluated: Error executing function 'matches': `(a` is not a valid regular expression: unclosed group ([home]/own/policy.json:1)
    ");
}

#[test]
fn check_warns_of_rules_about_what_is_not_there() {
    let switchboard = home();
    // A server's tools are known from its pins.
    switchboard.run(&["tools", "list"]).expect(0);
    let rules = json!({"rules": [
        {"effect": "deny", "target": "ecko/*"},
        {"effect": "ask", "target": "echo/wriet"},
        {"effect": "ask", "target": "echo/{write,add}"},
        {"effect": "allow", "target": "ec?o/*"},
    ]});
    switchboard.write_policy("user", &rules);
    let ran = switchboard.run(&["policy", "check"]).expect(0);
    insta::assert_snapshot!(transcript(&ran), @"
    exit status 0
    --- stderr
    warning: `target` `ecko/*` matches no configured server ([home]/own/policy.json:1:11)
    hint: did you mean `echo`?
    warning: `target` `echo/wriet` matches nothing that server `echo` offers ([home]/own/policy.json:1:47)
    hint: did you mean `write`?
    2 files, 5 rules, 2 examples: 2 warnings
    ");
    let warnings = || switchboard.json(&["policy", "check"])["warnings"].as_array().unwrap().len();
    assert_eq!(warnings(), 2);
    // Without pins they are known from the lock, and without a lock they are unknown.
    switchboard.write_policy("user", &json!({}));
    switchboard.run(&["lock"]).expect(0);
    switchboard.write_policy("user", &rules);
    std::fs::remove_dir_all(switchboard.folder().join("own/state/pins")).unwrap();
    assert_eq!(warnings(), 2);
    std::fs::remove_file(switchboard.path("switchboard.lock")).unwrap();
    assert_eq!(warnings(), 1);
}

#[test]
fn explain_names_the_verdict_the_rule_its_place_and_the_risk() {
    let switchboard = home();
    let explained =
        |words: &[&str]| switchboard.json(&[&["policy", "explain", "echo/write"], words].concat());
    let denied = explained(&["--args", r#"{"key":"b"}"#]);
    assert_eq!(denied["verdict"], "deny");
    assert_eq!(
        [&denied["levels"][0]["level"], &denied["levels"][0]["rule"]],
        ["enterprise", "no writing"]
    );
    assert_eq!(denied["levels"][0]["line"], 4);
    assert_eq!([&denied["levels"][1]["level"], &denied["levels"][1]["effect"]], ["user", "allow"]);
    assert!(denied["risk"]["score"].as_u64().unwrap() > 20, "{denied}");
    let person = explained(&["--args", r#"{"key":"b"}"#, "--caller", "person"]);
    assert_eq!(person["verdict"], "deny");
    assert_eq!(explained(&["--args", r#"{"key":"a"}"#])["verdict"], "allow");
    let tainted = explained(&["--args", r#"{"key":"a"}"#, "--after", "web"]);
    assert_eq!(tainted["verdict"], "ask");
    let tainted = explained(&["--args", r#"{"key":"a"}"#, "--after", "web/get"]);
    assert!(tainted["by"].as_str().unwrap().starts_with("something was read from `web`,"));
    let text = switchboard.run(&["policy", "explain", "echo/write", "--args", r#"{"key":"b"}"#]);
    let text = text.expect(0).stdout;
    assert!(
        text.starts_with("echo/write: deny\n  by    `no writing` of the enterprise policy ("),
        "{text}"
    );
    // No call was made.
    assert_eq!(switchboard.recorded_calls(), [""; 0]);
    switchboard.run(&["policy", "explain", "echo/nothing"]).expect(2);
}

#[test]
fn test_tells_which_case_is_not_as_expected() {
    let switchboard = home();
    let case = |key: &str, expect: &str| json!({"target": "echo/write", "args": {"key": key}, "expect": expect});
    let cases = |cases: Value| {
        switchboard.write("cases.json", &json!({ "cases": cases }).to_string());
        switchboard.run(&["policy", "test", "cases.json"])
    };
    cases(json!([case("a", "allow"), case("b", "deny")])).expect(0);
    let ran = cases(json!([case("a", "allow"), case("b", "ask")])).expect(1);
    insta::assert_snapshot!(transcript(&ran), @"
    exit status 1
    --- stderr
    warning: case `echo/write` (line 1): expected ask, got deny by `no writing` of the enterprise policy ([home]/system/policy.json:4)
    2 cases, 1 failed
    ");
    let mut named = case("b", "deny");
    named["rule"] = json!("another");
    cases(json!([named])).expect(1);
    cases(json!([{"target": "echo/write"}])).expect(3);
}

#[test]
fn what_if_lists_the_recorded_calls_that_would_be_decided_otherwise() {
    let switchboard = home();
    for key in ["a", "b"] {
        switchboard.run(&["call", "echo", "write", &format!("key={key}"), "--review"]);
    }
    switchboard.run(&["call", "echo", "echo", "text=x", "--review"]).expect(0);
    let changed = json!({"rules": [{"effect": "ask", "target": "echo/echo"}]});
    switchboard.write("changed.json", &changed.to_string());
    let words = ["policy", "what-if", "changed.json", "--since", "1d", "--json"];
    let found = switchboard.run(&words).expect(1).json();
    assert_eq!(found["calls"], 3);
    let rows: Vec<[&str; 3]> = found["differences"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| ["target", "today", "then"].map(|key| row[key].as_str().unwrap()))
        .collect();
    // Without the user's `allow`, calls that no rule covers need approval.
    assert_eq!(rows, [["echo/write", "allow", "ask"], ["echo/echo", "allow", "ask"]]);
    let same = switchboard.folder().join("own/policy.json");
    switchboard.run(&["policy", "what-if", same.to_str().unwrap()]).expect(0);
}

#[test]
fn what_if_knows_what_servers_say_about_their_tools() {
    let switchboard = Switchboard::new();
    let mut look = tool("look", "Looks.", json!({}));
    look["annotations"] = json!({"readOnlyHint": true});
    let offers = json!({"tools": [look, tool("change", "Changes.", json!({}))]});
    let mut entry = server_entry(&switchboard, "srv", &offers);
    entry["trusted"] = json!(true);
    switchboard.configure(&json!({"srv": entry}));
    for name in ["look", "change"] {
        switchboard.run(&["call", "srv", name]).expect(0);
    }
    for (when, denied) in [
        ("!tool.readOnly", "srv/change"),
        ("has(tool.annotations.readOnlyHint) && tool.annotations.readOnlyHint", "srv/look"),
    ] {
        let rule = json!({"effect": "deny", "target": "srv/*", "when": when});
        switchboard.write("changed.json", &json!({ "rules": [rule] }).to_string());
        let words = ["policy", "what-if", "changed.json", "--json"];
        let found = switchboard.run(&words).expect(1).json();
        let targets: Vec<&Value> =
            found["differences"].as_array().unwrap().iter().map(|row| &row["target"]).collect();
        assert_eq!(targets, [denied], "{when}");
    }
}
