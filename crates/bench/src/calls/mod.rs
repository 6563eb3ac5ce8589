//! One call, many times: every client on the same server, in interleaved passes.

mod case;
mod contender;
mod contestant;
mod passes;
mod section;
mod summary;
mod targets;

pub(crate) use passes::{CallPlan, run};
pub(crate) use section::sections;
