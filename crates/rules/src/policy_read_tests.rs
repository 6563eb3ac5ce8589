//! Tests of policy files: valid members, and the positions of errors.

use std::path::Path;
use std::sync::Arc;

use super::read_policy_file;
use crate::policy_file::PolicyLevel;

fn wrong(text: &str) -> String {
    let file: Arc<Path> = Path::new("p.json").into();
    read_policy_file(PolicyLevel::User, &file, text)
        .map(|_| String::new())
        .unwrap_or_else(|error| error.to_string())
}

#[test]
fn what_is_wrong_has_a_line_and_a_column() {
    for (text, expected) in [
        ("", ""),
        ("{}", ""),
        ("// nothing\n{\"rules\": [],}", ""),
        ("{\n \"rules\": [\n", "unterminated array (p.json:2:11)"),
        ("[]", "the file must be an object, not a list (p.json:1:1)"),
        ("{\"rule\": []}", "`rule` is not known (p.json:1:2)"),
        ("{\"rules\": {}}", "`rules` must be a list, not an object (p.json:1:11)"),
        ("{\"rules\": [{\"target\": \"a/b\"}]}", "the rule has no `effect` (p.json:1:12)"),
        ("{\"rules\": [{\"effect\": \"deny\"}]}", "the rule has no `target` (p.json:1:12)"),
        (
            "{\"rules\": [\n{\"effect\": \"block\", \"target\": \"*\"}]}",
            "`effect` cannot be `block` (p.json:2:12)",
        ),
        (
            "{\"rules\": [\n{\"effect\": \"deny\", \"target\": \"*\", \"whne\": \"true\"}]}",
            "`whne` is not known (p.json:2:35)",
        ),
        (
            "{\"rules\": [\n{\"effect\": \"deny\", \"target\": \"*\", \"when\": \"true && arg.x\"}]}",
            "`when` uses the unknown variable `arg` (p.json:2:52)",
        ),
        (
            "{\"rules\": [{\"effect\": \"deny\", \"target\": \"a/b\u{200b}\"}]}",
            "`target` has surrounding white space or hidden characters (p.json:1:41)",
        ),
        (
            "{\"rules\": [{\"effect\": \"deny\", \"target\": \"a/\"}]}",
            "`target` needs a name on both sides of its `/`, without spaces around it (p.json:1:41)",
        ),
        (
            "{\"rules\": [{\"effect\": \"deny\", \"target\": \"a /b\"}]}",
            "`target` needs a name on both sides of its `/`, without spaces around it (p.json:1:41)",
        ),
        (
            r#"{"rules": [{"effect": "deny", "target": "*", "when": "args.a == 'C:\\\\x' && args.b.matches('(')"}]}"#,
            "`when` has `(`, which is not a valid regular expression: unclosed group (p.json:1:93)",
        ),
        (
            "{\"rules\": [{\"effect\": \"deny\", \"target\": \"!a/b\"}]}",
            "`target` begins with `!`, but patterns cannot be negated (p.json:1:41)",
        ),
        ("{\"readOnly\": true, \"read_only\": true}", "`read_only` is given twice (p.json:1:20)"),
        (
            "{\"readOnly\": \"yes\"}",
            "`read_only` must be true or false, not a string (p.json:1:14)",
        ),
        (
            "{\"servers\": {\"allowed\": [{\"url\": \"https://a.com*\"}]}}",
            "`url` has a host that is not a name, `*` or `*.name` (p.json:1:34)",
        ),
        (
            r#"{"rules": [{"effect": "deny", "target": "web/memo\\\\x?y", "kind": "resource"}]}"#,
            "`target` has a `?` or `[` in a URI, which is either a part of it or a wildcard (p.json:1:55)",
        ),
        (
            r#"{"controls": {"allowed_tools": ["a:b", "{a:b"]}}"#,
            "`allowed_tools` has an unclosed `{` (p.json:1:40)",
        ),
        ("{\"team\": {}}", "only the organisation's file can name a team (p.json:1:2)"),
    ] {
        assert_eq!(wrong(text), expected, "{text}");
    }
}

#[test]
fn the_names_of_the_seeds_are_read_in_both_spellings() {
    for text in [
        r#"{"servers": {"disable_all": false, "allowed_mcp_servers": [{"server_url": "*"}, {"command": "npx *"}]}}"#,
        r#"{"servers": {"disableAll": false, "allowedMcpServers": [{"serverUrl": "*"}, {"command": "npx *"}]}}"#,
        r#"{"servers": {"allowed": [{"url": "*"}, {"command": "npx *"}]}}"#,
    ] {
        let file: Arc<Path> = Path::new("p.json").into();
        let (policy, _) = read_policy_file(PolicyLevel::Team, &file, text).unwrap();
        let servers = policy.servers.unwrap();
        assert_eq!((servers.disable_all, servers.allowed.unwrap().len()), (false, 2), "{text}");
    }
}
