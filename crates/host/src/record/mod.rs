//! The durable trace of every call: what was asked, what was decided, what was sent, how it ended.
//!
//! A call is opened, its intent is committed before the first byte leaves, and it is closed with
//! exactly one outcome. One thread writes, many calls in one transaction; readers never wait for it.
//! Several processes may share one file.

mod call_id;
mod entry;
mod error;
mod group;
mod ids;
mod ledger;
mod open_call;
mod owners;
mod queue;
mod reader;
mod results;
mod schema;
mod startup;
mod statements;
mod status;
mod writer;

pub use call_id::CallId;
pub use entry::{Intent, NewCall, Opened, Record, VerdictWord};
pub use error::LedgerError;
pub use ledger::{Durability, Ledger, LedgerOptions};
pub use open_call::OpenCall;
pub use reader::{Filter, Full, Reader, Summary};
pub use results::StoredResult;

#[cfg(test)]
mod crash_tests;
#[cfg(test)]
mod trouble_tests;
