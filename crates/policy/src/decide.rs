//! The verdict on a call, turned into what may happen next.

use switchboard_catalog::ResolvedCall;
use switchboard_core::{Caller, Outcome};

use crate::facts::PolicyFacts;
use crate::permit::{PermittedCall, Question};
use crate::risk::assess_risk;
use crate::rule_context::{RuleContext, Verdict};
use crate::session_tracker::SessionFacts;

/// What may happen with a call.
#[must_use]
pub enum Decision {
    Permitted(PermittedCall),
    /// A person has to answer first.
    Asked(Question),
    /// It may not run.
    Denied(DenyReason),
}

/// Why a call may not run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not allowed: {by}")]
pub struct DenyReason {
    /// The rule that said so.
    pub by: String,
    /// The reason in one word, for the record.
    pub word: &'static str,
}

/// Who wants a call, and what they did before.
#[derive(Clone, Copy, Debug)]
pub struct CallContext<'a> {
    pub caller: &'a Caller,
    /// What they did before.
    pub session: &'a SessionFacts,
}

/// Decides what may happen with `call`.
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

/// Why `call` may not run even if a person wants it to, if it may not: a person's answer comes after
/// the question, and may come with other arguments.
#[must_use]
pub fn refusal(
    call: &ResolvedCall,
    asking: CallContext<'_>,
    rules: RuleContext<'_>,
) -> Option<DenyReason> {
    let facts = PolicyFacts::new(call, asking.caller, asking.session);
    match rules.verdict(&facts, call.server().config.as_deref()) {
        Verdict::Allow(_) | Verdict::Ask(_) => None,
        Verdict::Deny(by) => Some(DenyReason { by, word: "policy" }),
        Verdict::ReadOnly(by) => Some(DenyReason { by, word: Outcome::READ_ONLY }),
    }
}
