//! Step 8: a permitted call to a raw result: where it goes, how long it may take, what may be repeated.

mod again;
mod choose;
mod follow;
mod later;
mod meaning;
mod message;
mod own_meta;
mod rounds;
mod run;
mod task;
mod task_outcome;
mod task_requests;
mod task_wish;
mod url_required;

pub use crate::task::{TaskHandle, TaskNews, TaskPlace, TaskState, TaskStatus};
pub use later::{Later, cancel_task, finish_task, list_tasks, look_at_task};
pub use run::{Announce, Reach, TaskNotes, run};
pub use task_wish::TaskWish;
