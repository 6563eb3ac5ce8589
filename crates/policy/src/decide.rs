//! Turns the verdict on a call into a decision.

use switchboard_catalog::ResolvedCall;
use switchboard_core::{Caller, Outcome};

use crate::facts::PolicyFacts;
use crate::permit::{PermittedCall, Question};
use crate::risk::assess_risk;
use crate::rule_context::{RuleContext, Verdict};
use crate::session_tracker::SessionFacts;

/// The decision on a resolved call.
#[must_use]
pub enum Decision {
    Permitted(PermittedCall),
    // A person must answer first.
    Asked(Question),
    Denied(DenyReason),
}

/// The reason why a call may not run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not allowed: {by}")]
pub struct DenyReason {
    /// The rule behind it, for people.
    pub by: String,
    /// The machine-readable reason for the record.
    pub word: &'static str,
}

/// The caller of a call, and its history.
#[derive(Clone, Copy, Debug)]
pub struct CallContext<'a> {
    pub caller: &'a Caller,
    pub session: &'a SessionFacts,
}

/// Decides whether `call` may run.
pub fn decide(call: ResolvedCall, asking: CallContext<'_>, rules: RuleContext<'_>) -> Decision {
    let facts = PolicyFacts::new(&call, asking.caller, asking.session);
    match rules.verdict(&facts, call.server().config.as_deref()) {
        Verdict::Allow(by) => Decision::Permitted(PermittedCall::new(call, by)),
        Verdict::Ask(doubt) => {
            let risk = assess_risk(&facts);
            Decision::Asked(Question::new(call, doubt, risk))
        }
        Verdict::Deny(by) => Decision::Denied(DenyReason { by, word: "policy" }),
        Verdict::ReadOnly(by) => Decision::Denied(DenyReason { by, word: Outcome::READ_ONLY }),
    }
}

/// Returns why `call` may not run even if a person approves it.
#[must_use]
pub fn refusal(
    call: &ResolvedCall,
    asking: CallContext<'_>,
    rules: RuleContext<'_>,
) -> Option<DenyReason> {
    // After the person's answer: rules, session or arguments may have changed since the question.
    let facts = PolicyFacts::new(call, asking.caller, asking.session);
    match rules.verdict(&facts, call.server().config.as_deref()) {
        Verdict::Allow(_) | Verdict::Ask(_) => None,
        Verdict::Deny(by) => Some(DenyReason { by, word: "policy" }),
        Verdict::ReadOnly(by) => Some(DenyReason { by, word: Outcome::READ_ONLY }),
    }
}
