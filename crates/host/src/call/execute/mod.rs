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

pub(crate) use resumed_tasks::{Later, cancel_task, finish_task, list_tasks, look_at_task};
pub(crate) use run::{Announce, Reach, TaskNotes, run};
pub use task_mode::TaskWish;
