//! What faces and embedding programs may see of verdicts: questions, explanations and replays.
//!
//! Deciding stays inside: a permit cannot be named through the host.
//!
//! ```compile_fail
//! use switchboard_host::policy::PermittedCall;
//! ```
//!
//! ```
//! use switchboard_host::policy::Question;
//! ```

pub use switchboard_core::Answer;
pub use switchboard_policy::{
    ExampleCall, Explanation, OfferedNames, PastCall, Policy, PolicyFacts, Question, RuleContext,
    SessionFacts, Verdict, VerdictChange, assess_risk, check_examples, is_trusted, unused_rules,
    what_if,
};
