//! Wildcards in rules, and wherever else patterns are taken.

use serde_json::{Value, json};

use crate::switchboard::{Switchboard, fixture};

fn home(policy: &Value) -> Switchboard {
    let switchboard = Switchboard::with(&json!({"echo": fixture(&["echo"])}));
    switchboard.write_policy("user", policy);
    switchboard
}

#[test]
fn a_deny_with_any_wildcard_holds_at_a_call() {
    let calls = |switchboard: &Switchboard| {
        let code = |words: &[&str]| switchboard.run(words).code;
        (code(&["call", "echo", "echo", "text=x"]), code(&["call", "echo", "write", "key=a"]))
    };
    for (target, expected) in [
        ("echo/{echo,add}", (5, 0)),
        ("echo/w?ite", (0, 5)),
        ("ech[a-o]/[vw]rite", (0, 5)),
        ("{echo/echo,other/*}", (5, 0)),
        ("echo/\\*", (0, 0)),
        ("echo/[!w]*", (5, 0)),
    ] {
        let switchboard = home(&json!({"rules": [{"effect": "deny", "target": target}]}));
        assert_eq!(calls(&switchboard), expected, "{target}");
    }
    let controls = json!({"controls": {"allowed_tools": ["{echo:write,other:x}"]}});
    assert_eq!(calls(&home(&controls)), (5, 0));
}

#[test]
fn a_pattern_that_can_be_none_is_refused_wherever_it_is_written() {
    let switchboard = home(&json!({}));
    for (target, place, told) in [
        ("echo/[ab", "1:47", "has an unclosed `[`"),
        ("echo/{ab", "1:47", "has an unclosed `{`"),
        ("echo/memo://x?y", "1:55", "has a `?` or `[` in a URI"),
    ] {
        let policy = format!(r#"{{"rules": [{{"effect": "deny", "target": "{target}"}}]}}"#);
        switchboard.write("bad.json", &policy);
        let ran = switchboard.run(&["policy", "check", "bad.json"]).expect(3);
        assert!(ran.stderr.contains(told), "{target}: {ran:?}");
        assert!(ran.stderr.contains(&format!("bad.json:{place})")), "{target}: {ran:?}");
        for words in
            [&["run", "--allow", target, "go"][..], &["tokens", "add", "a", "--tool", target]]
        {
            let ran = switchboard.run(words).expect(2);
            assert!(ran.stderr.contains(told), "{words:?}: {ran:?}");
        }
    }
}

#[test]
fn a_wildcard_among_names_of_tools_is_told() {
    let mut entry = fixture(&["echo"]);
    entry["autoApprove"] = json!(["wri*"]);
    let switchboard = Switchboard::with(&json!({"echo": entry}));
    let ran = switchboard.run(&["tools", "list"]).expect(0);
    assert!(ran.stderr.contains("has `wri*`, which is matched as a literal name"), "{ran:?}");
}
