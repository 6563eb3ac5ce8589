//! Verdicts: allow, ask or deny, by the rules of all levels.
//!
//! Takes a resolved call and the facts about its session. Returns a [`Decision`] and, after a
//! person's answer, a [`PermittedCall`]. Only this crate can create a `PermittedCall`, and
//! execution accepts nothing else. Pure: no I/O and no clock.

mod address;
mod condition;
mod decide;
mod examples;
mod facts;
mod permit;
mod policy;
mod result_counts;
mod risk;
mod rule_context;
mod session_tracker;
mod spelling;
mod unused_rules;
mod what_if;

pub use decide::{CallContext, Decision, DenyReason, decide, refusal};
pub use examples::{ExampleCall, check_examples};
pub use facts::{PolicyFacts, is_trusted};
pub use permit::{PermittedCall, Question, UserRejection};
pub use policy::{ActiveRules, Policy};
pub use result_counts::ResultCounts;
pub use risk::assess_risk;
pub use rule_context::{RuleContext, Verdict};
pub use session_tracker::{SessionFacts, SessionKey, SessionTracker};
pub use unused_rules::{OfferedNames, unused_rules};
pub use what_if::{Explanation, PastCall, VerdictChange, what_if};
