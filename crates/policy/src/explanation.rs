//! What would be decided about a call, by which level, and how risky it is.

use switchboard_catalog::ResolvedCall;
use switchboard_config::Config;
use switchboard_core::{Caller, Risk};

use crate::facts::Facts;
use crate::policy::Policy;
use crate::risk::risk_of;
use crate::rule_context::{Rules, Verdict};
use crate::ruling::Ruling;
use crate::session_tracker::SessionFacts;

/// What would be decided about a call, and why.
#[derive(Clone, Debug)]
pub struct Explained {
    /// What counts.
    pub verdict: Verdict,
    /// What each level says that says something, the strongest first.
    pub rulings: Vec<Ruling>,
    /// How risky the call is.
    pub risk: Risk,
}

impl Explained {
    /// Decides a call by a configuration; nothing is called.
    #[must_use]
    pub fn of(
        config: &Config,
        call: &ResolvedCall,
        caller: &Caller,
        session: &SessionFacts,
    ) -> Self {
        let policy = Policy::of(&config.policies);
        let facts = Facts::of(call, caller, session);
        let rules = Rules { policy: Some(&policy), ..Rules::of(&config.settings, &[]) };
        Self {
            verdict: rules.verdict(&facts, call.server().config.as_deref()),
            rulings: policy.rulings(&facts),
            risk: risk_of(&facts),
        }
    }
}
