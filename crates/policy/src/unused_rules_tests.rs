//! Tests which rules are reported as having no effect.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use switchboard_rules::{PolicyFile, PolicyLevel, policy_from_text};

use super::{OfferedNames, unused_rules};

fn file(level: PolicyLevel, policy: &Value) -> PolicyFile {
    let path: Arc<Path> = Path::new("p.json").into();
    policy_from_text(level, &path, &policy.to_string()).unwrap()
}

fn sample_offers() -> OfferedNames {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let servers: BTreeMap<String, Option<BTreeSet<String>>> = BTreeMap::from([
        ("builtin".to_owned(), None),
        ("files".to_owned(), Some(names(&["read_text", "write_text"]))),
        ("web".to_owned(), None),
        ("github.com/a/b".to_owned(), Some(names(&["create_issue"]))),
    ]);
    OfferedNames(servers)
}

fn warning_lines(level: PolicyLevel, policy: &Value) -> Vec<String> {
    let warnings = unused_rules(&[file(level, policy)], &sample_offers());
    assert!(warnings.iter().all(|warning| !warning.is_error()));
    let hint = |hint: &Option<Box<str>>| hint.as_deref().unwrap_or("nothing").to_owned();
    warnings.iter().map(|one| format!("{}; {}", one.message, hint(&one.hint))).collect()
}

#[test]
fn a_rule_about_what_is_not_there_is_told() {
    let rule = |target: &str| json!({"rules": [{"effect": "deny", "target": target}]});
    for (target, expected) in [
        ("files/write_text", None),
        ("files/write_*", None),
        ("files", None),
        ("*/delete_*", None),
        ("*", None),
        ("web/anything", None),
        ("files/file:///etc/*", None),
        ("{files,web}/get", None),
        ("github.com/a/b/create_issue", None),
        ("fles/*", Some("`target` `fles/*` matches no configured server; did you mean `files`?")),
        ("mail", Some("`target` `mail` matches no configured server; nothing")),
        ("x[yz]/*", Some("`target` `x[yz]/*` matches no configured server; nothing")),
        (
            "files/writ_text",
            Some(
                "`target` `files/writ_text` matches nothing that server `files` offers; did you mean `write_text`?",
            ),
        ),
        (
            "files/delete_*",
            Some("`target` `files/delete_*` matches nothing that server `files` offers; nothing"),
        ),
    ] {
        let expected: Vec<String> = expected.iter().map(|text| (*text).to_owned()).collect();
        assert_eq!(warning_lines(PolicyLevel::User, &rule(target)), expected, "{target}");
    }
    let nothing = OfferedNames(BTreeMap::from([("builtin".to_owned(), None)]));
    assert_eq!(unused_rules(&[file(PolicyLevel::User, &rule("fles/*"))], &nothing), []);
    let tools =
        json!({"controls": {"allowed_tools": ["files:read_text", "files:raed_text", "echo"]}});
    assert_eq!(
        warning_lines(PolicyLevel::User, &tools),
        [
            "`allowed_tools` `files/raed_text` matches nothing that server `files` offers; did you mean `read_text`?"
        ]
    );
}

#[test]
fn a_rule_that_never_decides_is_told() {
    let rules = json!({"rules": [
        {"effect": "deny", "target": "files/write_*"},
        {"effect": "ask", "target": "files/write_text", "when": "risk.score > 3"},
        {"effect": "allow", "target": "files/write_*", "kind": "tool"},
        {"effect": "allow", "target": "files/read_text"},
        {"effect": "deny", "target": "web/*", "kind": "prompt"},
        {"effect": "ask", "target": "web/*"},
    ]});
    let never = |target: &str| {
        format!(
            "the rule for `{target}` never decides: `files/write_*` is denied (p.json:1); nothing"
        )
    };
    assert_eq!(
        warning_lines(PolicyLevel::User, &rules),
        [never("files/write_text"), never("files/write_*")]
    );
    let allow = json!({"rules": [{"effect": "allow", "target": "files/*"}]});
    assert_eq!(
        warning_lines(PolicyLevel::Project, &allow),
        [
            "`allow` `files/*` has no effect in a project's file; move it to your own policy or to the team's"
        ]
    );
}

#[test]
fn wildcards_that_lists_of_servers_do_not_know_are_told() {
    let policy = json!({"servers": {"allowed": [
        {"command": "npx -y @acme/*"},
        {"command": "npx -y {a,b}"},
        {"url": "https://corp.example/x?y=*"},
    ]}});
    assert_eq!(
        warning_lines(PolicyLevel::User, &policy),
        [
            "`npx -y {a,b}` is compared literally except for `*`; lists of servers support no other wildcards"
        ]
    );
}
