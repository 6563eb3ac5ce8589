//! The verdict on a call, turned into what may happen next.

use switchboard_catalog::ResolvedCall;
use switchboard_core::{Caller, Outcome};

use crate::facts::Facts;
use crate::permit::{PermittedCall, Question};
use crate::risk::risk_of;
use crate::rule_context::{Rules, Verdict};
use crate::session_tracker::SessionFacts;

/// What may happen with a call.
#[must_use]
pub enum Decision {
    /// It may run.
    Permitted(PermittedCall),
    /// A person has to answer first.
    Asked(Question),
    /// It may not run.
    Denied(Denied),
}

/// Why a call may not run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not allowed: {by}")]
pub struct Denied {
    /// The rule that said so.
    pub by: String,
    /// The reason in one word, for the record.
    pub word: &'static str,
}

/// Who wants a call, and what they did before.
#[derive(Clone, Copy, Debug)]
pub struct Asking<'a> {
    /// Who.
    pub caller: &'a Caller,
    /// What they did before.
    pub session: &'a SessionFacts,
}

/// Decides what may happen with `call`.
pub fn decide(call: ResolvedCall, asking: Asking<'_>, rules: Rules<'_>) -> Decision {
    let facts = Facts::of(&call, asking.caller, asking.session);
    match rules.verdict(&facts, call.server().config.as_deref()) {
        Verdict::Allow(by) => Decision::Permitted(PermittedCall::new(call, by)),
        Verdict::Ask(doubt) => {
            let risk = risk_of(&facts);
            Decision::Asked(Question::new(call, doubt, risk))
        }
        Verdict::Deny(by) => Decision::Denied(Denied { by, word: "policy" }),
        Verdict::ReadOnly(by) => Decision::Denied(Denied { by, word: Outcome::READ_ONLY }),
    }
}

/// Why `call` may not run even if a person wants it to, if it may not: a person's answer comes after
/// the question, and may come with other arguments.
#[must_use]
pub fn refusal(call: &ResolvedCall, asking: Asking<'_>, rules: Rules<'_>) -> Option<Denied> {
    let facts = Facts::of(call, asking.caller, asking.session);
    match rules.verdict(&facts, call.server().config.as_deref()) {
        Verdict::Allow(_) | Verdict::Ask(_) => None,
        Verdict::Deny(by) => Some(Denied { by, word: "policy" }),
        Verdict::ReadOnly(by) => Some(Denied { by, word: Outcome::READ_ONLY }),
    }
}
