//! Step 8: a permitted call to a raw result: where it goes, how long it may take, what may be repeated.

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
mod task_outcome;
mod task_requests;
mod url_required;

pub(crate) use resumed_tasks::{LaterTask, cancel_task, finish_task, get_task_state, list_tasks};
pub(crate) use run::{AttemptObserver, ExecContext, TaskObserver, run};
pub use task_mode::TaskMode;
