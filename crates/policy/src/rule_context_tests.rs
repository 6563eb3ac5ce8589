//! Tests that only a rule, a person or the configuration can allow a call, and never against a
//! rule.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};
use switchboard_config::{Environment, Places, ServerConfig};
use switchboard_core::{Caller, Face, Origin, Target, TargetKind};
use switchboard_rules::{Pattern, Policies, PolicyFile, PolicyLevel, policy_from_text};

use super::{RuleContext, Verdict};
use crate::facts::PolicyFacts;
use crate::policy::Policy;
use crate::session_tracker::SessionFacts;

/// Returns the built-in server's entry as a sample configuration.
fn server() -> ServerConfig {
    let folder = tempfile::tempdir().unwrap();
    let environment = Environment {
        variables: std::collections::BTreeMap::new(),
        home: None,
        current_dir: folder.path().to_owned(),
    };
    let places = Places::without_files(folder.path().to_owned());
    let config = switchboard_config::load(&places, &environment, &switchboard_config::NoConsents);
    config.servers.into_values().next().unwrap()
}

fn file(level: PolicyLevel, effects: &[(&str, &str)]) -> PolicyFile {
    let rules: Vec<Value> = effects
        .iter()
        .map(|(effect, target)| json!({"effect": effect, "target": target}))
        .collect();
    let path: Arc<Path> = Path::new("p.json").into();
    policy_from_text(level, &path, &json!({ "rules": rules }).to_string()).unwrap()
}

fn caller(origin: Origin) -> Caller {
    Caller { face: Face::Chat, origin, name: "x".to_owned(), reference: None }
}

fn any_rules() -> impl Strategy<Value = Vec<(&'static str, &'static str)>> {
    let effect = prop_oneof![Just("allow"), Just("ask"), Just("deny")];
    let target = prop_oneof![Just("builtin/x"), Just("*"), Just("other/*"), Just("*/y")];
    proptest::collection::vec((effect, target), 0..4)
}

/// Returns whether one of the rules applies to `builtin/NAME`, independently of the code under
/// test.
fn says(rules: &[(&str, &str)], effect: &str, name: &str) -> bool {
    let covers = |target: &str| match target {
        "*" => true,
        "builtin/x" => name == "x",
        "*/y" => name == "y",
        _ => false,
    };
    rules.iter().any(|(said, target)| *said == effect && covers(target))
}

proptest! {
    #[test]
    fn nothing_runs_without_somebody_who_said_so_or_against_a_rule(
        levels in proptest::collection::vec(any_rules(), 4),
        origin in prop_oneof![Just(Origin::Person), Just(Origin::Model), Just(Origin::Client)],
        kind in prop_oneof![
            Just(TargetKind::Tool), Just(TargetKind::Resource), Just(TargetKind::Prompt),
        ],
        (switch, listed, always) in (any::<bool>(), any::<bool>(), any::<bool>()),
        (for_this_run, tainted, flagged) in (any::<bool>(), any::<bool>(), any::<bool>()),
        name in prop_oneof![Just("x"), Just("y")],
    ) {
        let files = PolicyLevel::ALL.into_iter().zip(&levels).map(|(level, rules)| file(level, rules));
        let policy = Policy::new(&Policies { files: files.collect(), broken: None });
        let mut server = server();
        server.auto_approve = if listed { BTreeSet::from([name.to_owned()]) } else { BTreeSet::new() };
        let allow = [Pattern::new("builtin/*")];
        let allow = if for_this_run { &allow[..] } else { &[] };
        let flagged = flagged.then_some("the scanner found something");
        let rules = RuleContext {
            auto_approve: switch, allow, always, policy: Some(&policy), taint: true, flagged,
        };
        let mut session = SessionFacts::default();
        if tainted {
            session.record_untrusted_read("web");
        }
        let caller = caller(origin);
        let target = Target::new(kind, "builtin", name);
        let facts = PolicyFacts::without_definition(&target, "{}", Some(&server), &caller, &session);
        let any_says = |effect| levels.iter().any(|rules| says(rules, effect, name));
        let denies = any_says("deny");
        let asks = any_says("ask");
        // A project's file cannot grant permissions.
        let of_people = PolicyLevel::ALL.into_iter().zip(&levels).filter(|(level, _)| *level != PolicyLevel::Project);
        let by_rule = of_people.into_iter().any(|(_, rules)| says(rules, "allow", name));
        let is_tool = kind == TargetKind::Tool;
        let by_list = switch && (listed || always || !is_tool);
        match rules.verdict(&facts, Some(&server)) {
            Verdict::Allow(_) => {
                prop_assert!(!denies);
                if origin != Origin::Person {
                    prop_assert!(!asks);
                    prop_assert!(by_rule || for_this_run || by_list);
                    prop_assert!(for_this_run || flagged.is_none());
                    prop_assert!(for_this_run || !tainted || !is_tool);
                }
            }
            Verdict::Ask(_) => prop_assert!(!denies && origin != Origin::Person),
            Verdict::Deny(_) => prop_assert!(denies),
            Verdict::ReadOnly(by) => prop_assert!(false, "{by}"),
        }
        let alone = rules.verdict_without_server(&facts);
        let may = matches!(alone, Verdict::Allow(_));
        prop_assert!(!may || origin == Origin::Person && !denies || by_rule && !asks && !denies);
        server.disabled = true;
        prop_assert!(matches!(rules.verdict(&facts, Some(&server)), Verdict::Deny(_)));
        server.disabled = false;
        server.barred = Some("not allowed here".to_owned());
        prop_assert!(matches!(rules.verdict(&facts, Some(&server)), Verdict::Deny(_)));
        prop_assert!(matches!(rules.verdict(&facts, None), Verdict::Deny(_)));
    }
}
