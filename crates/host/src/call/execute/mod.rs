//! Execution: sends a permitted call and returns the raw result.
//!
//! Reading order: `run` is the loop of attempts, within the deadline and with the retry policy;
//! `choose` picks the connection; `exchange` sends the request and answers requests for input;
//! `outcome_mapping` turns an answer or an error into an outcome. `task` and `follow_task` follow a
//! call that continues as a task of the server; `resumed_tasks` continues it in a later process.

mod call_message;
mod caller_meta;
mod choose;
mod exchange;
mod follow_task;
mod outcome_mapping;
mod resumed_tasks;
mod run;
mod task;
mod task_connection;
mod task_mode;
mod task_requests;
mod url_required;

pub(crate) use resumed_tasks::{LaterTask, cancel_task, finish_task, get_task_state, list_tasks};
pub(crate) use run::{AttemptObserver, ExecContext, TaskObserver, run};
pub use task_mode::TaskMode;
