//! The durable trace of every call, and the conversations that calls belong to.
//!
//! A call is opened, its intent is kept before the first byte leaves, and it is closed with exactly
//! one outcome. A call appends its promises to the `journal` of its process by itself; one thread
//! brings them into the database, many calls in one transaction. Several processes may share one
//! database. Where a promise has to survive a loss of power, calls wait for the database instead.
//!
//! What happened in the middle of a call is in a table of its own, where something did: `timelines`.
//!
//! `seal` chains the closed calls together, `checkpoint` signs how far, `verify` checks it.
//!
//! Conversations have a file of their own, opened and guarded in the same way: `sessions` is the
//! handle, `session_store` the tables, `session_find` tells which one a word means.
//! So has what waits for a person: `waiting_file` keeps it, `waiting_rows` is its table.
//! So has what became of definitions: `audit`.

pub mod audit;
mod audit_mark;
mod bodies;
mod body_file;
mod call_id;
mod checkpoint;
mod entry;
mod error;
mod file;
mod file_error;
mod filter;
mod folder_text;
mod group;
mod ids;
mod journal;
mod journal_entry;
mod kept;
mod ledger;
mod open_call;
mod owners;
mod queue;
mod reader;
mod replay;
mod results;
mod rows;
mod same_file;
mod schema;
mod seal;
mod session;
mod session_error;
mod session_find;
mod session_hold;
mod session_id;
mod session_store;
mod sessions;
mod startup;
mod statements;
mod status;
mod tasks;
mod timelines;
mod traffic;
mod verify;
mod waiting_file;
mod waiting_rows;
mod writer;

pub use crate::durability::Durability;
pub use audit::{Audit, AuditNote, AuditRow, Tampered};
pub use call_id::CallId;
pub use entry::{Intent, NewCall, Opened, Record, VerdictWord};
pub use error::LedgerError;
pub use filter::{Filter, Page};
pub use ledger::{Ledger, LedgerOptions};
pub use open_call::OpenCall;
pub use reader::{Full, Reader, Summary};
pub use results::StoredResult;
pub use session::{NewSession, SessionSummary, Step};
pub use session_error::SessionError;
pub use session_hold::Held;
pub use session_id::SessionId;
pub use sessions::Sessions;
pub use tasks::{StoredTask, TaskNote, WhichTasks};
pub use traffic::{Minute, Traffic};
pub use verify::{Verified, Wrong};
pub use waiting_file::WaitingFile;

#[cfg(test)]
mod crash_tests;
#[cfg(test)]
mod session_crash_tests;
#[cfg(test)]
mod session_trouble_tests;
#[cfg(test)]
mod trouble_tests;
