//! The gateway under load while its servers are killed: what the clients saw, what our record says
//! and what the servers noted have to agree, call by call.
//!
//! Reading order: `plan` says how much, `run` puts it together, `client` makes the calls that `work`
//! thinks up, `killer` ends servers, `check` compares the three accounts, `report` is what comes out.

mod account;
mod check;
mod client;
mod connection;
mod gateway;
mod journals;
mod killer;
mod memory;
mod plan;
mod random;
mod record;
mod report;
mod run;
mod work;

pub use plan::SoakPlan;
pub use report::SoakReport;
pub use run::{SoakError, run};
