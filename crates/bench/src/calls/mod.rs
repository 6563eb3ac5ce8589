//! `calls`: one call, repeated by every client on the same server, in interleaved passes.

mod contestant;
mod passes;
mod section;

pub(crate) use contestant::ClientContestant;
pub(crate) use passes::{CallPlan, run};
pub(crate) use section::sections;
