//! Step 6: a resolved call to a verdict, and the permit that execution asks for (pure).

mod decide;
mod pattern;
mod permit;
mod rules;

pub use decide::{Decision, Denied, decide};
pub use pattern::Pattern;
pub use permit::{Answer, PermittedCall, Question, Rejected};
pub use rules::{Rules, Verdict};
