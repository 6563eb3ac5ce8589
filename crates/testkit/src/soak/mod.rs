//! The gateway under load while its servers are killed: what the clients saw, what our record says
//! and what the servers noted have to agree, call by call.
//!
//! Reading order: `plan` says how much and which calls, `run` puts it together, `client` makes the
//! calls, `journals` ends servers, `check` compares the three accounts, `report` is what comes out.

mod check;
mod client;
mod gateway;
mod journals;
mod plan;
mod report;
mod run;

pub use plan::SoakPlan;
pub use report::SoakReport;
pub use run::{SoakError, run};
