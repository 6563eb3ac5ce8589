//! The public view of policy: questions, explanations and replays.
//!
//! Decisions are made inside the host: `PermittedCall` is not exported.
//!
//! ```compile_fail
//! use switchboard_host::policy::PermittedCall;
//! ```
//!
//! ```
//! use switchboard_host::policy::Question;
//! ```

use switchboard_core::{Caller, Target};
use switchboard_store::FullCall;
use switchboard_trust::PinnedAnnotations;

pub use switchboard_core::Answer;
pub use switchboard_policy::{
    ExampleCall, Explanation, OfferedNames, PastCall, Policy, PolicyFacts, Question, RuleContext,
    SessionFacts, Verdict, VerdictChange, assess_risk, check_examples, is_trusted, unused_rules,
    what_if,
};

/// Returns the policy's view of a recorded call, with its server's annotations of the tool.
#[must_use]
pub fn past_call(recorded: &FullCall, annotations: &PinnedAnnotations) -> PastCall {
    let summary = &recorded.summary;
    // A reviewer or a hook may have edited the arguments; the edited ones were decided and sent.
    let bytes = recorded.sent_arguments.as_ref().unwrap_or(&recorded.arguments);
    let target = Target::new(summary.kind, &summary.server, &summary.target);
    PastCall {
        annotations: annotations.get(&target).map(str::to_owned),
        target,
        arguments: String::from_utf8_lossy(bytes).into_owned(),
        caller: Caller::from_record(&summary.face, &summary.caller, recorded.reference.clone()),
        was_sent: recorded.intent_at.is_some(),
    }
}
