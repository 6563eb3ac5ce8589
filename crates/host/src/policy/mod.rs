//! Step 6: a resolved call to a verdict, and the permit that execution asks for (pure).
//!
//! Reading order: `facts` is what is known of a call, `condition` decides `when` over them,
//! `policy` asks the rules of every level, `rules` joins them with what the configuration says in
//! short, `decide` turns the verdict into a `permit`.

mod address;
mod condition;
mod decide;
mod examples;
mod explained;
mod facts;
mod functions;
mod idle;
mod in_force;
mod index;
mod permit;
#[expect(clippy::module_inception, reason = "the policy is what this step is about")]
mod policy;
mod results;
mod risk;
mod risk_words;
mod rules;
mod ruling;
mod sessions;
mod shared_name;
mod spelling;
mod what_if;

pub use crate::answer::Answer;
pub use crate::config::Pattern;
pub use crate::risk::Risk;
pub use decide::{Asking, Decision, Denied, decide, refusal};
pub use examples::{Imagined, broken_example};
pub use explained::Explained;
pub use facts::{Annotations, Facts, is_trusted};
pub use idle::{Offered, idle_rules};
pub use in_force::InForce;
pub use permit::{PermittedCall, Question, Rejected};
pub use policy::Policy;
pub use results::Results;
pub use risk::risk_of;
pub use rules::{Doubt, Rules, Verdict};
pub use ruling::{Cited, Ruling};
pub use sessions::{SessionFacts, SessionKey, Sessions};
pub use what_if::{Compared, Past, what_if};
