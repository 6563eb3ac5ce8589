//! What would be decided about a call, by which level, and how risky it is.

use switchboard_catalog::ResolvedCall;
use switchboard_config::Config;
use switchboard_core::{Caller, Risk};

use crate::facts::PolicyFacts;
use crate::policy::Policy;
use crate::risk::assess_risk;
use crate::rule_context::{RuleContext, Verdict};
use crate::ruling::Ruling;
use crate::session_tracker::SessionFacts;

/// What would be decided about a call, and why.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// What counts.
    pub verdict: Verdict,
    /// What each level says that says something, the strongest first.
    pub rulings: Vec<Ruling>,
    /// How risky the call is.
    pub risk: Risk,
}

impl Explanation {
    /// Decides a call by a configuration; nothing is called.
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
