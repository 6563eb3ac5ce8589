//! The gateway under load while its servers are killed. Three accounts have to agree, call by call:
//! the clients' results, the gateway's record and the servers' journals.
//!
//! Reading order: `plan` defines the load and the calls, `run` carries out a soak, `client` makes
//! the calls, `journals` kills servers, `check` compares the accounts, `report` is the result.

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
