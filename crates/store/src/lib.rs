//! The durable record of every call, the conversations that calls belong to, the audit log and the
//! queue of pending reviews and questions.
//!
//! A call is opened, its intent is recorded before the first byte is sent, and it is closed with
//! exactly one outcome. A call appends to the journal of its process; one thread moves the entries
//! into SQLite, many calls per transaction. Several processes may share one database. With
//! [`Durability::Power`](switchboard_core::Durability), calls wait for the database commit instead.
//!
//! The `seal` module chains the closed calls, `checkpoint` signs the chain and `verify` checks it.
//! This crate never decides about a call and never talks to a server.

mod audit;
mod bodies;
mod body_file;
mod call_id;
mod checkpoint;
#[cfg(test)]
mod crash_tests;
mod entry;
mod error;
mod file;
mod filter;
mod group;
mod journal;
mod journal_entry;
mod ledger;
mod open_call;
mod queue;
mod reader;
mod recovery;
mod redacted_body;
mod results;
mod rows;
mod same_file;
mod schema;
mod seal;
mod sessions;
mod startup;
mod statements;
mod status;
mod tasks;
mod timelines;
mod traffic;
#[cfg(test)]
mod trouble_tests;
mod verify;
mod write_queue;
mod writer;

pub use audit::log::{Audit, AuditNote, AuditRow};
pub use call_id::CallId;
pub use entry::{Intent, NewCall, OpenReport, Record, VerdictWord};
pub use error::LedgerError;
pub use filter::Filter;
pub use ledger::Ledger;
pub use open_call::OpenCall;
pub use queue::entry::{
    AskMatter, AskedFor, EntryState, Matter, QueueEntry, QueuedQuestion, ReviewMatter,
};
pub use queue::file::QueueFile;
pub use queue::store::{QueueAnswer, QueueError, QueueStore};
pub use queue::user_decision::{AskReply, UserDecision};
pub use reader::{CallSummary, FullCall, LedgerReader};
pub use results::StoredResult;
pub use sessions::error::SessionError;
pub use sessions::id::SessionId;
pub use sessions::store::{NewSession, SessionLock, SessionStep, SessionStore, SessionSummary};
pub use tasks::{StoredTask, TaskNote, WhichTasks};
pub use traffic::{Minute, Traffic};
