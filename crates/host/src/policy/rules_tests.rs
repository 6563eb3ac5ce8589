//! What lets a call run: a rule, a person, or the configuration, and never anything against a rule.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Rules, Verdict};
use crate::caller::{Caller, Face, Origin};
use crate::config::Pattern;
use crate::config::{
    Effect, Environment, Level, Places, Policies, PolicyFile, ServerConfig, policy_from_text,
};
use crate::policy::facts::Facts;
use crate::policy::policy::Policy;
use crate::policy::sessions::SessionFacts;
use crate::proposed::{Target, TargetKind};

/// The built-in server's entry, as one that could be any server's.
fn server() -> ServerConfig {
    let folder = tempfile::tempdir().unwrap();
    let environment = Environment {
        variables: std::collections::BTreeMap::new(),
        home: None,
        current_dir: folder.path().to_owned(),
    };
    let places = Places::bare(folder.path().to_owned());
    let approvals = crate::config::Approvals::load(folder.path());
    let config = crate::config::load(&places, &environment, &approvals);
    config.servers.into_values().next().unwrap()
}

fn file(level: Level, effects: &[(&str, &str)]) -> PolicyFile {
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

proptest! {
    #[test]
    fn nothing_runs_without_somebody_who_said_so_or_against_a_rule(
        enterprise in any_rules(),
        project in any_rules(),
        user in any_rules(),
        origin in prop_oneof![Just(Origin::Person), Just(Origin::Model), Just(Origin::Client)],
        switch in any::<bool>(),
        listed in any::<bool>(),
        for_this_run in any::<bool>(),
        tainted in any::<bool>(),
        tool in prop_oneof![Just("x"), Just("y")],
    ) {
        let files = vec![
            file(Level::Enterprise, &enterprise),
            file(Level::Project, &project),
            file(Level::User, &user),
        ];
        let policy = Policy::of(&Policies { files, broken: None });
        let mut server = server();
        server.auto_approve = if listed { BTreeSet::from([tool.to_owned()]) } else { BTreeSet::new() };
        let allow = [Pattern::new("builtin/*")];
        let allow = if for_this_run { &allow[..] } else { &[] };
        let rules = Rules { auto_approve: switch, allow, always: false, policy: Some(&policy), taint: true, flagged: None };
        let mut session = SessionFacts::default();
        if tainted {
            session.read_untrusted("web");
        }
        let (caller, target) = (caller(origin), Target::new(TargetKind::Tool, "builtin", tool));
        let facts = Facts::without_definition(&target, "{}", Some(&server), &caller, &session);
        let said: Vec<Effect> = policy.rulings(&facts).iter().map(|ruling| ruling.effect).collect();
        let by_rule = said.contains(&Effect::Allow);
        let by_list = switch && listed;
        match rules.verdict(&facts, Some(&server)) {
            Verdict::Allow(_) => {
                prop_assert!(!said.contains(&Effect::Deny));
                if origin != Origin::Person {
                    prop_assert!(!said.contains(&Effect::Ask));
                    prop_assert!(by_rule || for_this_run || by_list);
                    prop_assert!(!tainted || for_this_run);
                }
            }
            Verdict::Ask(_) => {
                prop_assert!(!said.contains(&Effect::Deny) && origin != Origin::Person);
            }
            Verdict::Deny(_) => prop_assert!(said.contains(&Effect::Deny)),
            Verdict::ReadOnly(by) => prop_assert!(false, "{by}"),
        }
        server.disabled = true;
        prop_assert!(matches!(rules.verdict(&facts, Some(&server)), Verdict::Deny(_)));
        prop_assert!(matches!(rules.verdict(&facts, None), Verdict::Deny(_)));
    }
}
