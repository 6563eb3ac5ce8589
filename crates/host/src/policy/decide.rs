//! The verdict on a call, turned into what may happen next.

use crate::caller::Caller;
use crate::catalog::ResolvedCall;
use crate::policy::permit::{PermittedCall, Question};
use crate::policy::rules::{Rules, Verdict};

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
}

/// Decides what may happen with `call`.
pub fn decide(call: ResolvedCall, caller: &Caller, rules: Rules<'_>) -> Decision {
    match rules.verdict(&call, caller) {
        Verdict::Allow(by) => Decision::Permitted(PermittedCall::new(call, by)),
        Verdict::Ask(why) => Decision::Asked(Question::new(call, why)),
        Verdict::Deny(by) => Decision::Denied(Denied { by }),
    }
}
