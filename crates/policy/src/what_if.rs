//! Explains verdicts, and replays past calls against changed rules.

use std::collections::HashMap;

use switchboard_catalog::ResolvedCall;
use switchboard_config::Config;
use switchboard_core::{Caller, Risk, Target};
use switchboard_rules::{Policies, RuleEffect};

use crate::facts::{PolicyFacts, is_trusted};
use crate::policy::{Policy, Ruling};
use crate::risk::assess_risk;
use crate::rule_context::{RuleContext, Verdict};
use crate::session_tracker::SessionFacts;

/// A call from the record.
#[derive(Clone, Debug)]
pub struct PastCall {
    pub target: Target,
    pub arguments: String,
    pub caller: Caller,
    /// The JSON text of the tool's annotations, if known.
    pub annotations: Option<String>,
    /// Whether the call was sent, and may have returned a result.
    pub was_sent: bool,
}

/// The verdicts of two policies on one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerdictChange {
    pub today: RuleEffect,
    pub then: RuleEffect,
    pub by: String,
}

/// Replays calls, oldest first, under the current and the changed rules. Returns the changes.
pub fn what_if<'a>(
    config: &Config,
    changed: &Policies,
    calls: impl IntoIterator<Item = &'a PastCall>,
) -> Vec<Option<VerdictChange>> {
    let today = Policy::new(&config.policies);
    let changed = Policy::new(changed);
    let mut sessions: HashMap<String, SessionFacts> = HashMap::new();
    let compare = |call: &PastCall| {
        let session = sessions.entry(session_name(&call.caller)).or_default();
        let (was, _) = decide_past(config, &today, call, session);
        let (then, by) = decide_past(config, &changed, call, session);
        let server = call.target.server.as_str();
        // After both verdicts: a call does not count for its own decision.
        session.count_call(server);
        if call.was_sent {
            session.record_result(server, &call.target.name);
            match config.servers.get(server).is_some_and(is_trusted) {
                true => session.record_read(server),
                false => session.record_untrusted_read(server),
            }
        }
        (was != then).then_some(VerdictChange { today: was, then, by })
    };
    calls.into_iter().map(compare).collect()
}

fn decide_past(
    config: &Config,
    policy: &Policy,
    call: &PastCall,
    session: &SessionFacts,
) -> (RuleEffect, String) {
    let server = config.servers.get(call.target.server.as_str());
    let facts = PolicyFacts::without_definition(
        &call.target, &call.arguments, server, &call.caller, session,
    );
    let facts = match &call.annotations {
        Some(text) => facts.with_annotations(text, server),
        None => facts,
    };
    let rules =
        RuleContext { policy: Some(policy), ..RuleContext::from_settings(&config.settings, &[]) };
    let verdict = match server {
        Some(server) => rules.verdict(&facts, Some(server)),
        None => rules.verdict_without_server(&facts),
    };
    let (effect, by) = verdict.effect_and_reason();
    (effect, by.to_owned())
}

fn session_name(caller: &Caller) -> String {
    let conversation = caller.reference.as_deref().and_then(|text| text.split_once('/'));
    match conversation {
        Some((session, _)) => session.to_owned(),
        None => format!("{}:{}", caller.origin, caller.name),
    }
}

/// The verdict on a call, with the rulings and risk behind it.
#[derive(Clone, Debug)]
pub struct Explanation {
    pub verdict: Verdict,
    pub rulings: Vec<Ruling>,
    pub risk: Risk,
}

impl Explanation {
    /// Explains the verdict on a call without running it.
    #[must_use]
    pub fn new(
        config: &Config,
        call: &ResolvedCall,
        caller: &Caller,
        session: &SessionFacts,
    ) -> Self {
        let policy = Policy::new(&config.policies);
        let facts = PolicyFacts::new(call, caller, session);
        let rules = RuleContext {
            policy: Some(&policy),
            ..RuleContext::from_settings(&config.settings, &[])
        };
        Self {
            verdict: rules.verdict(&facts, call.server().config.as_deref()),
            rulings: policy.rulings(&facts),
            risk: assess_risk(&facts),
        }
    }
}
