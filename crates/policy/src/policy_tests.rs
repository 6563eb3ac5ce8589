//! Tests rulings level by level, and that no level widens another.

use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};
use switchboard_core::TargetKind;
use switchboard_rules::{Example, Policies, PolicyFile, PolicyLevel, RuleEffect, policy_from_text};

use super::Policy;
use crate::examples::{ExampleCall, check_examples};
use crate::policy::Ruling;

fn file(level: PolicyLevel, policy: &Value) -> PolicyFile {
    let path: Arc<Path> = Path::new("policy.json").into();
    policy_from_text(level, &path, &policy.to_string()).unwrap()
}

fn example(target: &str, arguments: &Value) -> Example {
    Example {
        target: target.to_owned(),
        kind: TargetKind::Tool,
        arguments: arguments.to_string(),
        caller: "model".to_owned(),
        annotations: "{}".to_owned(),
        trusted: false,
        reads: Vec::new(),
        results: Vec::new(),
        line: 1,
        column: 1,
    }
}

fn ruling_for(files: Vec<PolicyFile>, example: &Example) -> Option<Ruling> {
    let policy = Policy::new(&Policies { files, broken: None });
    policy.ruling(&ExampleCall::new(example).facts(example))
}

fn check(policy: &Value, target: &str, arguments: &Value, expected: &str) {
    let got = ruling_for(vec![file(PolicyLevel::User, policy)], &example(target, arguments));
    let got = got.map_or("nothing", |ruling| ruling.effect.as_str());
    assert_eq!(got, expected, "{policy} {target} {arguments}");
}

#[test]
fn deny_beats_ask_and_ask_beats_allow_in_any_order() {
    let rule = |effect: &str| json!({"effect": effect, "target": "files/*"});
    for (effects, expected) in [
        (&["allow"][..], "allow"),
        (&["allow", "ask"], "ask"),
        (&["ask", "allow"], "ask"),
        (&["deny", "allow", "ask"], "deny"),
        (&["allow", "ask", "deny"], "deny"),
        (&[], "nothing"),
    ] {
        let rules: Vec<Value> = effects.iter().map(|effect| rule(effect)).collect();
        check(&json!({"rules": rules}), "files/write", &json!({}), expected);
        check(&json!({"rules": rules}), "other/write", &json!({}), "nothing");
    }
}

#[test]
fn pl_01_a_rule_covers_one_name_and_no_other() {
    let policy =
        |effect: &str| json!({"rules": [{"effect": effect, "target": "github/delete_repo"}]});
    check(&policy("deny"), "github/delete_repo", &json!({}), "deny");
    for other in [
        "github%2fdelete_repo", "github/delete_repos", "github/delete-repo",
        "github/./delete_repo", "github//delete_repo", "github/delete_repo#",
    ] {
        check(&policy("deny"), other, &json!({}), "nothing");
    }
    // A confusable spelling is covered by `deny` and `ask`, never by `allow`.
    for spelling in [
        "GitHub/Delete_Repo",
        "github/delete_repo ",
        "github/delete_repo\u{200b}",
        "github/DELETE_REPO",
        "github/delete_repo\0",
        "github/delete_repo\t",
        "github/delete\u{fe0f}_repo",
        "github/dеlete_repo",
        "github/de\u{301}lete_repo",
        "github/ｄelete_repo",
        "git\u{ad}hub/delete_repo",
    ] {
        for (effect, expected) in [("deny", "deny"), ("ask", "ask"), ("allow", "nothing")] {
            check(&policy(effect), spelling, &json!({}), expected);
        }
    }
}

#[test]
fn pl_03_a_path_is_compared_after_it_is_made_plain() {
    let policy = json!({"rules": [
        {"effect": "allow", "target": "files/read", "when": "path_in(args.path, '/data')"},
    ]});
    for (path, expected) in [
        (json!("/data/a"), "allow"),
        (json!("/data/./b/../a"), "allow"),
        (json!("/data/../etc/passwd"), "nothing"),
        (json!("/data2"), "nothing"),
        (json!("/DATA"), "deny"),
        (json!("data/a"), "deny"),
        (json!(["/data"]), "deny"),
        (json!(null), "deny"),
    ] {
        check(&policy, "files/read", &json!({"path": path}), expected);
    }
    check(&policy, "files/read", &json!({}), "deny");
}

#[test]
fn pl_04_a_number_is_a_number_or_the_call_is_refused() {
    let policy = json!({"rules": [
        {"effect": "allow", "target": "bank/pay", "when": "args.amount < 500"},
    ]});
    for (amount, expected) in [
        ("499", "allow"),
        ("4.99e2", "allow"),
        ("500", "nothing"),
        ("500.0000000001", "nothing"),
        ("5e2", "nothing"),
        ("18446744073709551616", "nothing"),
        ("\"499\"", "deny"),
        ("[499]", "deny"),
        ("{\"value\": 1}", "deny"),
        ("null", "deny"),
        ("true", "deny"),
        ("-0", "allow"),
        ("-1e308", "allow"),
        ("1e308", "nothing"),
        ("9223372036854775808", "nothing"),
        ("499.99999999999999999999", "nothing"),
        ("\"\\u0034\\u0039\\u0039\"", "deny"),
        ("[]", "deny"),
        ("{}", "deny"),
    ] {
        let arguments = serde_json::from_str(&format!("{{\"amount\": {amount}}}")).unwrap();
        check(&policy, "bank/pay", &arguments, expected);
    }
    check(&policy, "bank/pay", &json!({}), "deny");
}

#[test]
fn pl_05_a_host_is_taken_from_the_address_as_it_is_read() {
    let policy = json!({"rules": [
        {"effect": "allow", "target": "web/get", "when": "host_in(args.url, '*.example.com')"},
    ]});
    for (url, expected) in [
        ("https://api.example.com/x", "allow"),
        ("https://example.com.evil.tld/", "nothing"),
        ("https://evil.tld#.example.com", "nothing"),
        ("https://evil.tld/.example.com", "nothing"),
        ("https://api.example.com@evil.tld/", "deny"),
        ("https://api.example.com./", "deny"),
        ("//api.example.com/", "deny"),
        ("https://api.example.com%2eevil.tld/", "deny"),
        ("https://evil.tld/?x=https://api.example.com", "nothing"),
        ("https://evil.tld\\.example.com/", "deny"),
        ("https://api.example.com:80@evil.tld/", "deny"),
        ("https://api\u{200b}.example.com/", "deny"),
        ("https://apі.example.com/", "deny"),
        ("", "deny"),
    ] {
        check(&policy, "web/get", &json!({"url": url}), expected);
    }
}

#[test]
fn a_deny_rule_whose_condition_cannot_be_decided_denies() {
    let policy = json!({"rules": [
        {"effect": "deny", "target": "web/*", "when": "host_in(args.url, '*.evil.tld')"},
    ]});
    check(&policy, "web/get", &json!({"url": "https://good.tld/"}), "nothing");
    check(&policy, "web/get", &json!({"url": "https://a.evil.tld/"}), "deny");
    check(&policy, "web/get", &json!({"url": "https://a.evil.tld\\@good.tld/"}), "deny");
    check(&policy, "web/get", &json!({"link": "https://a.evil.tld/"}), "deny");
}

#[test]
fn a_condition_that_cannot_be_decided_denies_whatever_the_rule_says() {
    let arguments = json!({"s": "x", "n": 1, "big": i64::MAX, "list": [1], "o": {"a": null}});
    for when in [
        "args.missing == 1",
        "args.o.missing == 1",
        "args.list[5] == 1",
        "args.s < 5",
        "args.s + 1 == 2",
        "args.n / 0 == 1",
        "args.big + 1 > 0",
        "args.o.a > 1",
        "size(args.n) > 0",
        "args.s.matches('(')",
        "args.s.matches('(' + args.s)",
        "path_in(args.n, '/data')",
        "host_in(args.list, 'a.example')",
        "args.s",
        "args.n",
        "session.missing == 1",
        "args['mis' + 'sing'] == 1",
    ] {
        for effect in ["allow", "ask", "deny"] {
            let policy = json!({"rules": [{"effect": effect, "target": "*", "when": when}]});
            let path: Arc<Path> = Path::new("policy.json").into();
            // Conditions that fail to compile are rejected when the file is read.
            let Ok(file) = policy_from_text(PolicyLevel::User, &path, &policy.to_string()) else {
                continue;
            };
            let got = ruling_for(vec![file], &example("files/write", &arguments));
            assert_eq!(got.map(|ruling| ruling.effect), Some(RuleEffect::Deny), "{effect} {when}");
        }
    }
}

#[test]
fn a_condition_speaks_of_tool_server_caller_session_and_risk() {
    for (when, holds) in [
        ("tool.name == 'write' && tool.kind == 'tool'", true),
        ("tool.annotations.readOnlyHint", true),
        ("tool.readOnly", false),
        ("server.name == 'files' && server.transport == 'stdio' && !server.trusted", true),
        ("caller.origin == 'model' && caller.face == 'chat'", true),
        ("session.tainted && 'web' in session.reads && session.calls == 0", true),
        ("!has(session.times.web) && size(session.times) == 0", true),
        ("risk.score > 20 && size(risk.reasons) > 0", true),
        ("'web/get' in session.results && session.results['web/get'] == 2", true),
        ("session.results.exists(name, name.startsWith('mail/'))", true),
        ("'web/post' in session.results || has(session.results.web)", false),
        ("session.calls == 0 && size(session['results']) == 2 && 'mail' in session.reads", true),
        ("risk.score > 99", false),
        ("has(args.path)", false),
        ("args.items.exists(item, item.price > 2)", true),
        ("args.items.all(item, item.price > 2)", false),
        ("args.word.matches('^w.{3}$') && matches(args.word, '^' + 'wo')", true),
        ("args.word.matches('^x') || args.word.matches(args.word + '!')", false),
        ("type(args.word) == string && type(args.items) == list", true),
    ] {
        let policy = json!({"rules": [{"effect": "deny", "target": "*", "when": when}]});
        let mut example =
            example("files/write", &json!({"items": [{"price": 1}, {"price": 3}], "word": "word"}));
        example.annotations = r#"{"readOnlyHint":true}"#.to_owned();
        example.reads = vec!["web".to_owned()];
        example.results = ["web/get", "web/get", "mail/read"].map(str::to_owned).to_vec();
        let ruling = ruling_for(vec![file(PolicyLevel::User, &policy)], &example);
        assert_eq!(ruling.is_some(), holds, "{when}: {ruling:?}");
        assert!(ruling.is_none_or(|ruling| ruling.by.why.is_none()), "{when}");
    }
}

#[test]
fn conditions_about_results_are_asked_in_any_order_and_deny_once_there_were_too_many() {
    let rule = |when: &str| json!({"effect": "deny", "target": "*", "when": when});
    let plain = rule("session.calls > 5");
    let asks = rule("'web/get' in session.results");
    for rules in [[&plain, &asks, &plain], [&asks, &plain, &asks]] {
        let policy = json!({ "rules": rules });
        let mut call = example("files/write", &json!({}));
        assert_eq!(ruling_for(vec![file(PolicyLevel::User, &policy)], &call), None);
        call.results = vec!["web/get".to_owned()];
        let ruling = ruling_for(vec![file(PolicyLevel::User, &policy)], &call).unwrap();
        assert_eq!((ruling.effect, ruling.by.why), (RuleEffect::Deny, None));
        call.results = (0..2_000).map(|number| format!("web/{number}")).collect();
        let ruling = ruling_for(vec![file(PolicyLevel::User, &policy)], &call).unwrap();
        assert!(ruling.by.why.unwrap().contains("more results than are counted"), "{policy}");
    }
    // Conditions that do not use the counts are not affected.
    let mut call = example("files/write", &json!({}));
    call.results = (0..2_000).map(|number| format!("web/{number}")).collect();
    assert_eq!(ruling_for(vec![file(PolicyLevel::User, &json!({"rules": [plain]}))], &call), None);
}

#[test]
fn an_address_is_denied_in_every_spelling_and_allowed_only_in_its_plain_one() {
    let policy = json!({"rules": [
        {"effect": "deny", "target": "files/file:///{etc,var}/*", "kind": "resource"},
        {"effect": "deny", "target": "files/memo://find\\?q=*"},
        {"effect": "allow", "target": "files/file:///data/*"},
    ]});
    for (uri, expected) in [
        ("file:///data/a", "allow"),
        ("file:///data/../home/x", "nothing"),
        ("file:///data/../etc/passwd", "deny"),
        ("FILE:///etc/passwd", "deny"),
        ("file:///%65tc/passwd", "deny"),
        ("file:///var/x", "deny"),
        ("memo://find?q=1", "deny"),
        ("memo://findxq=1", "nothing"),
    ] {
        let mut example = example(&format!("files/{uri}"), &json!({}));
        example.kind = TargetKind::Resource;
        let got = ruling_for(vec![file(PolicyLevel::User, &policy)], &example);
        let got = got.map_or("nothing", |ruling| ruling.effect.as_str());
        assert_eq!(got, expected, "{uri}");
    }
}

#[test]
fn controls_and_read_only_mode_hold_for_everything() {
    let tools = json!({"controls": {"allowed_tools": ["files:read", "echo", "git/*"]}});
    check(&tools, "files/read", &json!({}), "nothing");
    check(&tools, "any/echo", &json!({}), "nothing");
    check(&tools, "git/log", &json!({}), "nothing");
    check(&tools, "files/write", &json!({}), "deny");
    check(&json!({"controls": {"allowedTools": []}}), "files/read", &json!({}), "deny");
    check(&json!({"controls": {"enabled": false}}), "files/read", &json!({}), "deny");
    check(&json!({"controls": {"enabled": true}}), "files/read", &json!({}), "nothing");
    check(&json!({"autoApprove": false}), "files/read", &json!({}), "ask");
    let read_only = file(PolicyLevel::Team, &json!({"readOnly": true}));
    let mut call = example("files/read", &json!({}));
    call.annotations = r#"{"readOnlyHint":true}"#.to_owned();
    let refused = ruling_for(vec![read_only.clone()], &call).unwrap();
    assert!(refused.read_only && refused.effect == RuleEffect::Deny);
    call.trusted = true;
    assert_eq!(ruling_for(vec![read_only], &call), None);
}

#[test]
fn a_rule_is_cited_with_its_level_and_place() {
    let policy = json!({"rules": [{"effect": "deny", "target": "a/b", "name": "no b"}]});
    let ruling =
        ruling_for(vec![file(PolicyLevel::Team, &policy)], &example("a/b", &json!({}))).unwrap();
    assert_eq!(ruling.by.to_string(), "`no b` of the team policy (policy.json:1)");
}

#[test]
fn an_example_that_does_not_hold_is_an_error_with_its_place() {
    let policy =
        |rule: Value| Policies { files: vec![file(PolicyLevel::User, &rule)], broken: None };
    let rule = |kind: &str, args: Value| {
        json!({"rules": [{
            "effect": "allow",
            "target": "bank/pay",
            "when": "args.amount < 500",
            kind: [{"args": args}],
        }]})
    };
    for (kind, args, expected) in [
        ("match", json!({"amount": 3}), None),
        ("not_match", json!({"amount": 500}), None),
        ("not_match", json!({}), None),
        ("match", json!({"amount": 500}), Some("the rule does not cover this example of `match`")),
        ("notMatch", json!({"amount": 3}), Some("the rule covers this example of `not_match`")),
        ("match", json!({}), Some("the rule cannot judge this example of `match`")),
    ] {
        let problem = check_examples(&policy(rule(kind, args.clone())));
        match (problem, expected) {
            (None, None) => {}
            (Some(problem), Some(expected)) => {
                assert!(problem.message.starts_with(expected), "{problem}");
                assert_eq!(problem.line, Some(1));
            }
            (problem, _) => panic!("{kind} {args}: {problem:?}"),
        }
    }
}

#[test]
fn ux_05_hidden_characters_in_arguments_hide_nothing_from_a_rule() {
    let policy = |effect: &str, when: &str| json!({"rules": [{"effect": effect, "target": "sh/run", "when": when}]});
    for (effect, when, command, expected) in [
        ("deny", "args.command.contains('rm -rf')", "rm -rf /", Some(RuleEffect::Deny)),
        (
            "deny",
            "args.command.contains('rm -rf')",
            "r\u{200b}m -r\u{ad}f /",
            Some(RuleEffect::Deny),
        ),
        ("ask", "args.command.startsWith('rm')", "\u{2060}rm", Some(RuleEffect::Ask)),
        ("deny", "args.command.contains('rm -rf')", "ls", None),
        ("allow", "args.command == 'ls'", "ls", Some(RuleEffect::Allow)),
        ("allow", "args.command == 'ls'", "l\u{200d}s", None),
        ("allow", "args.command != 'rm'", "r\u{200b}m", None),
        // The arguments as sent count as well: here they differ from the plain word.
        ("deny", "args.command != 'ls'", "l\u{200b}s", Some(RuleEffect::Deny)),
    ] {
        let call = example("sh/run", &json!({ "command": command }));
        let said = ruling_for(vec![file(PolicyLevel::User, &policy(effect, when))], &call);
        assert_eq!(said.map(|ruling| ruling.effect), expected, "{effect} {when} {command:?}");
    }
}

fn any_rule() -> impl Strategy<Value = Value> {
    let effect = prop_oneof![Just("allow"), Just("ask"), Just("deny")];
    let target = prop_oneof![
        Just("a/x"),
        Just("a/*"),
        Just("*"),
        Just("*/x"),
        Just("b/y"),
        Just("a/?"),
        Just("[ab]/x"),
        Just("{a/y,b/*}"),
        Just("[!a]/{x,y}"),
        Just("\\a/\\x"),
    ];
    let when = prop_oneof![
        Just(None),
        Just(Some("args.n < 5")),
        Just(Some("caller.origin == 'model'")),
        Just(Some("risk.score > 30")),
        Just(Some("'web/get' in session.results")),
        Just(Some("caller.name.matches('^m') && args.n != 7")),
    ];
    (effect, target, when).prop_map(|(effect, target, when)| match when {
        Some(when) => json!({"effect": effect, "target": target, "when": when}),
        None => json!({"effect": effect, "target": target}),
    })
}

fn any_policy() -> impl Strategy<Value = Value> {
    (proptest::collection::vec(any_rule(), 0..5), any::<bool>())
        .prop_map(|(rules, ask)| json!({"rules": rules, "autoApprove": !ask}))
}

/// Returns how strict a ruling is.
fn strictness(said: Option<&Ruling>) -> u8 {
    match said.map(|ruling| ruling.effect) {
        Some(RuleEffect::Allow) => 0,
        // Without a ruling, a person is asked.
        None | Some(RuleEffect::Ask) => 1,
        Some(RuleEffect::Deny) => 2,
    }
}

proptest! {
    #[test]
    fn a_level_below_never_widens(
        policies in proptest::collection::vec(any_policy(), 4),
        number in prop_oneof![Just(json!(3)), Just(json!(7)), Just(json!("3"))],
        target in prop_oneof![
            Just("a/x"), Just("a/y"), Just("b/x"), Just("b/y"), Just("A/x"), Just("a/ｘ"),
        ],
        kind in prop_oneof![
            Just(TargetKind::Tool), Just(TargetKind::Resource), Just(TargetKind::Prompt),
        ],
        has_read in any::<bool>(),
    ) {
        let mut call = example(target, &json!({"n": number}));
        call.kind = kind;
        call.results.extend(has_read.then(|| "web/get".to_owned()));
        let files: Vec<PolicyFile> = PolicyLevel::ALL
            .into_iter()
            .zip(&policies)
            .map(|(level, policy)| file(level, policy))
            .collect();
        // Test every subset of levels, and each with one more level below.
        for chosen in 0..16_usize {
            let of = |chosen: usize| {
                let files = files.iter().enumerate().filter(|(at, _)| chosen & (1 << at) != 0);
                ruling_for(files.map(|(_, file)| file.clone()).collect(), &call)
            };
            let above = of(chosen);
            for below in (0..4).filter(|below| chosen >> below == 0) {
                let both = of(chosen | 1 << below);
                if above.is_some() {
                    let strict = strictness(above.as_ref());
                    let stricter = strictness(both.as_ref());
                    prop_assert!(stricter >= strict, "{above:?} {both:?}");
                }
                let by_project = PolicyLevel::ALL.get(below) == Some(&PolicyLevel::Project);
                prop_assert!(!by_project || strictness(both.as_ref()) >= strictness(above.as_ref()));
            }
        }
    }
}
